-- Totals of one project over a window, and the same by agent, by role and by tool, in one pass.
-- project_id; since: records with occurred_at from here on; limit: length of each list.
-- final_days: days on which a row may be stored twice until its parts are merged; only they are read with FINAL.
-- Whole days come from the projection by_day, the whole hours of the first day from by_hour, its first hour from rows.
-- `facet` names the list of a row; the totals are the row with facet ''. `entries`: rows of that list before the limit.
SELECT
    multiIf(grouping(agent_name) = 0, 'agent', grouping(role) = 0, 'role', grouping(tool_name) = 0, 'tool', '') AS facet,
    multiIf(facet = 'agent', agent_name, facet = 'role', role, facet = 'tool', tool_name, '') AS name,
    count() OVER (PARTITION BY facet) AS entries,
    sum(rows) AS total,
    sumIf(rows, outcome = 'allow') AS allow,
    sumIf(rows, outcome = 'deny') AS deny,
    sumIf(rows, outcome = 'needs_approval') AS needs_approval
FROM
(
    SELECT agent_name, role, tool_name, outcome, count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND toDate(occurred_at) > toDate({since: DateTime64(3, 'UTC')})
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL
    SELECT agent_name, role, tool_name, outcome, count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND toDate(toStartOfHour(occurred_at)) = toDate({since: DateTime64(3, 'UTC')})
        AND toStartOfHour(occurred_at) > toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL
    SELECT agent_name, role, tool_name, outcome, count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toStartOfHour(occurred_at) = toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL
    SELECT agent_name, role, tool_name, outcome, count() AS rows
    FROM decisions FINAL
    WHERE project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toDate(occurred_at) IN {final_days: Array(Date)}
    GROUP BY ALL
)
GROUP BY GROUPING SETS ((), (agent_name), (role), (tool_name))
ORDER BY
    facet,
    total DESC,
    name
LIMIT {limit: UInt32} BY facet
SETTINGS do_not_merge_across_partitions_select_final = 1
