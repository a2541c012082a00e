-- Totals of one project over a window, and the same by agent, by role and by tool, in one pass.
-- project_id; since: records with occurred_at from here on; limit: length of each list.
-- final_days: days on which a row may be stored twice until its parts are merged; only they are read with FINAL.
-- first_day: the day of `since`; null for a window of a day, whose hours are read at once.
-- Whole days come from the projection by_day, the whole hours of first_day from by_hour, the first hour from rows.
-- optional: the service drops these lines where that parameter is null or empty, because they select nothing then.
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
    SELECT agent_name, role, tool_name, outcome, count() AS rows -- optional: first_day
    FROM decisions -- optional: first_day
    WHERE project_id = {project_id: String} -- optional: first_day
        AND toDate(occurred_at) > {first_day: Nullable(Date)} -- optional: first_day
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: first_day, final_days
    GROUP BY ALL -- optional: first_day
    UNION ALL -- optional: first_day
    SELECT agent_name, role, tool_name, outcome, count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND ({first_day: Nullable(Date)} IS NULL OR toDate(toStartOfHour(occurred_at)) = {first_day: Nullable(Date)}) -- optional: first_day
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
    UNION ALL -- optional: final_days
    SELECT agent_name, role, tool_name, outcome, count() AS rows -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE project_id = {project_id: String} -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
)
GROUP BY GROUPING SETS ((), (agent_name), (role), (tool_name))
ORDER BY
    facet,
    total DESC,
    name
LIMIT {limit: UInt32} BY facet
SETTINGS do_not_merge_across_partitions_select_final = 1
