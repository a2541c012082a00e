-- Totals of one project over a range of time, and the same by agent, by role and by tool, in one pass.
-- project_id; since, before: records with since <= occurred_at < before; limit: length of each list.
-- agent, role, outcome, tool, user_id, session_id, reason: one of these values, '' for the empty one; not_…: none of these. An empty
-- list does not filter.
-- days_from, days_until: the whole days of the range, from the projection counts_by_day; null if they are read by the
-- hour.
-- hours_from, hours_until: its whole hours on the other days, from the projection counts_by_hour; null if everything is
-- read from rows, which filters that no projection has require.
-- What is left before the first hour and after the last always comes from rows.
-- few_rows: 1 if the range holds so few rows that neither a projection nor a second thread is worth its cost; else
-- null.
-- final_days: days on which a row may be stored twice until its parts are merged; only they are read with FINAL.
-- optional: the service drops these lines if one of the parameters is null or empty, because they select nothing then.
-- is_counted filters the counts of whole days and hours, not their rows: pushed down into a projection, it would make
-- planning 90 days take half as long again.
-- Rows are filtered where they are read.
-- `facet` names the list of a row; the totals are the row with facet ''.
-- `entries`: rows of that list before the limit.
WITH
    true
        AND (empty({agent: Array(String)}) OR agent_name IN {agent: Array(String)}) -- optional: agent
        AND agent_name NOT IN {not_agent: Array(String)} -- optional: not_agent
        AND (empty({role: Array(String)}) OR role IN {role: Array(String)}) -- optional: role
        AND role NOT IN {not_role: Array(String)} -- optional: not_role
        AND (empty({outcome: Array(String)}) OR outcome IN {outcome: Array(String)}) -- optional: outcome
        AND outcome NOT IN {not_outcome: Array(String)} -- optional: not_outcome
        AND (empty({tool: Array(String)}) OR tool_name IN {tool: Array(String)}) -- optional: tool
        AND tool_name NOT IN {not_tool: Array(String)} -- optional: not_tool
    AS is_counted,
    project_id = {project_id: String}
        AND (empty({user_id: Array(String)}) OR user_id IN {user_id: Array(String)}) -- optional: user_id
        AND user_id NOT IN {not_user_id: Array(String)} -- optional: not_user_id
        AND (empty({session_id: Array(String)}) OR session_id IN {session_id: Array(String)}) -- optional: session_id
        AND session_id NOT IN {not_session_id: Array(String)} -- optional: not_session_id
        AND (empty({reason: Array(String)}) OR reason IN {reason: Array(String)}) -- optional: reason
        AND reason NOT IN {not_reason: Array(String)} -- optional: not_reason
        AND is_counted
    AS is_match
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
    SELECT agent_name, role, tool_name, outcome, count() AS rows -- optional: days_from
    FROM decisions -- optional: days_from
    WHERE project_id = {project_id: String} -- optional: days_from
        AND toDate(occurred_at) >= {days_from: Nullable(Date)} -- optional: days_from
        AND toDate(occurred_at) < {days_until: Nullable(Date)} -- optional: days_from
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: days_from, final_days
    GROUP BY ALL -- optional: days_from
    UNION ALL -- optional: days_from
    SELECT agent_name, role, tool_name, outcome, count() AS rows -- optional: hours_from
    FROM decisions -- optional: hours_from
    WHERE project_id = {project_id: String} -- optional: hours_from
        AND toStartOfHour(occurred_at) >= {hours_from: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toStartOfHour(occurred_at) < {hours_until: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND ({days_from: Nullable(Date)} IS NULL OR toDate(toStartOfHour(occurred_at)) < {days_from: Nullable(Date)} OR toDate(toStartOfHour(occurred_at)) >= {days_until: Nullable(Date)}) -- optional: hours_from, days_from
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: hours_from, final_days
    GROUP BY ALL -- optional: hours_from
    UNION ALL -- optional: hours_from
    SELECT agent_name, role, tool_name, outcome, toUInt64(1) AS rows
    FROM decisions
    WHERE is_match
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND occurred_at < {before: DateTime64(3, 'UTC')}
        AND ({hours_from: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {hours_from: Nullable(DateTime64(3, 'UTC'))} OR occurred_at >= {hours_until: Nullable(DateTime64(3, 'UTC'))}) -- optional: hours_from
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    UNION ALL -- optional: final_days
    SELECT agent_name, role, tool_name, outcome, count() AS rows -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND occurred_at < {before: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
)
WHERE is_counted
GROUP BY GROUPING SETS ((), (agent_name), (role), (tool_name))
ORDER BY
    facet,
    total DESC,
    name
LIMIT {limit: UInt32} BY facet
SETTINGS
    optimize_use_projections = 0, max_threads = 1, -- optional: few_rows
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0,
    optimize_use_implicit_projections = 0,
    query_plan_filter_push_down = 0
