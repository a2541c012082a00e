-- Totals of one project over a window, and the same by agent, by role and by tool, in one pass.
-- project_id; since: records with occurred_at from here on; limit: groups of each kind.
-- `facet` says which of the three a row belongs to; the totals are the row with facet ''.
-- FINAL keeps a row written twice from counting twice before its parts are merged.
WITH
    countIf(outcome = 'allow') AS allow,
    countIf(outcome = 'deny') AS deny,
    countIf(outcome = 'needs_approval') AS needs_approval
SELECT
    multiIf(grouping(agent_name) = 0, 'agent', grouping(role) = 0, 'role', grouping(tool_name) = 0, 'tool', '') AS facet,
    multiIf(facet = 'agent', agent_name, facet = 'role', role, facet = 'tool', tool_name, '') AS name,
    count() AS total,
    allow,
    deny,
    needs_approval
FROM decisions FINAL
WHERE project_id = {project_id: String}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
GROUP BY GROUPING SETS ((), (agent_name), (role), (tool_name))
ORDER BY
    facet,
    total DESC,
    name
LIMIT {limit: UInt32} BY facet
SETTINGS do_not_merge_across_partitions_select_final = 1
