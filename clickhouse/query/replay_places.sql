-- The places of the newest decisions of one agent, for a replay under a draft policy. Leaves out the arguments, which
-- are large.
-- project_id, agent_name; since: records with occurred_at from this time on; until, until_id: see decisions_page.sql;
-- limit.
SELECT
    toUnixTimestamp64Milli(occurred_at) AS occurred_ms,
    toString(event_id) AS event_id
FROM decisions FINAL
WHERE project_id = {project_id: String}
    AND agent_name = {agent_name: String}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at <= {until: Nullable(DateTime64(3, 'UTC'))}) -- optional: until
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR event_id < {until_id: Nullable(String)}) -- optional: until
ORDER BY
    occurred_at DESC,
    event_id DESC
LIMIT {limit: UInt32}
SETTINGS do_not_merge_across_partitions_select_final = 1
