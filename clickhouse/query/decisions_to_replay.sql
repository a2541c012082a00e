-- A page of the newest decisions of one agent, for a replay under a draft policy, as lines of JSON.
-- project_id, agent_name; since: records with occurred_at from here on; limit.
-- until, until_id: only records after this place in the list; null for the first page.
SELECT
    toUnixTimestamp64Milli(occurred_at) AS occurred_ms,
    toString(event_id) AS event_id,
    tool_name,
    role,
    outcome,
    arguments
FROM decisions FINAL
WHERE project_id = {project_id: String}
    AND agent_name = {agent_name: String}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at <= {until: Nullable(DateTime64(3, 'UTC'))}) -- optional: until
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR toString(event_id) < {until_id: Nullable(String)}) -- optional: until
ORDER BY
    occurred_at DESC,
    event_id DESC
LIMIT {limit: UInt32}
SETTINGS
    do_not_merge_across_partitions_select_final = 1,
    output_format_json_quote_64bit_integers = 0
FORMAT JSONCompactEachRow
