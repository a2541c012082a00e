-- A page of decisions of one agent, for a replay under a draft policy, as lines of JSON. replay_places.sql has the bounds.
-- project_id, agent_name; since, since_id: the last place of the page; until, until_id: its first place; limit.
SELECT
    tool_name,
    role,
    outcome,
    arguments,
    toString(event_id) AS event_id
FROM decisions FINAL
WHERE project_id = {project_id: String}
    AND agent_name = {agent_name: String}
    AND occurred_at BETWEEN {since: DateTime64(3, 'UTC')} AND {until: DateTime64(3, 'UTC')}
    AND (occurred_at > {since: DateTime64(3, 'UTC')} OR toString(event_id) >= {since_id: String})
    AND (occurred_at < {until: DateTime64(3, 'UTC')} OR toString(event_id) <= {until_id: String})
ORDER BY
    occurred_at DESC,
    event_id DESC
LIMIT {limit: UInt32}
SETTINGS
    do_not_merge_across_partitions_select_final = 1
FORMAT JSONCompactEachRow
