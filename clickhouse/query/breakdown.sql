-- Outcome counts of one project over a range of time by the values of one column, with the first and the last time of each.
-- by: the column.
-- The projections have error_type as well; for reason, user_id and session_id everything is read from rows.
-- limit: how many values are listed.
-- All other parameters: see summary.sql.
-- `entries`: how many values there are before the limit; all_…: their totals.
-- With many values, window functions take a third of the time of another grouping set.
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
    toString(value) AS name,
    count() OVER () AS entries,
    sum(rows) AS total,
    sumIf(rows, outcome = 'allow') AS allow,
    sumIf(rows, outcome = 'deny') AS deny,
    sumIf(rows, outcome = 'needs_approval') AS needs_approval,
    min(first) AS first_at,
    max(last) AS last_at,
    sum(total) OVER () AS all_total,
    sum(allow) OVER () AS all_allow,
    sum(deny) OVER () AS all_deny,
    sum(needs_approval) OVER () AS all_needs_approval
FROM
(
    SELECT {by: Identifier} AS value, agent_name, role, tool_name, outcome, count() AS rows, min(occurred_at) AS first, max(occurred_at) AS last -- optional: days_from
    FROM decisions -- optional: days_from
    WHERE project_id = {project_id: String} -- optional: days_from
        AND toDate(occurred_at) >= {days_from: Nullable(Date)} -- optional: days_from
        AND toDate(occurred_at) < {days_until: Nullable(Date)} -- optional: days_from
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: days_from, final_days
    GROUP BY ALL -- optional: days_from
    UNION ALL -- optional: days_from
    SELECT {by: Identifier} AS value, agent_name, role, tool_name, outcome, count() AS rows, min(occurred_at) AS first, max(occurred_at) AS last -- optional: hours_from
    FROM decisions -- optional: hours_from
    WHERE project_id = {project_id: String} -- optional: hours_from
        AND toStartOfHour(occurred_at) >= {hours_from: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toStartOfHour(occurred_at) < {hours_until: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND ({days_from: Nullable(Date)} IS NULL OR toDate(toStartOfHour(occurred_at)) < {days_from: Nullable(Date)} OR toDate(toStartOfHour(occurred_at)) >= {days_until: Nullable(Date)}) -- optional: hours_from, days_from
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: hours_from, final_days
    GROUP BY ALL -- optional: hours_from
    UNION ALL -- optional: hours_from
    SELECT {by: Identifier} AS value, agent_name, role, tool_name, outcome, toUInt64(1) AS rows, occurred_at AS first, occurred_at AS last
    FROM decisions
    WHERE is_match
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND occurred_at < {before: DateTime64(3, 'UTC')}
        AND ({hours_from: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {hours_from: Nullable(DateTime64(3, 'UTC'))} OR occurred_at >= {hours_until: Nullable(DateTime64(3, 'UTC'))}) -- optional: hours_from
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    UNION ALL -- optional: final_days
    SELECT {by: Identifier} AS value, agent_name, role, tool_name, outcome, count() AS rows, min(occurred_at) AS first, max(occurred_at) AS last -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND occurred_at < {before: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
)
WHERE is_counted
GROUP BY value
ORDER BY
    total DESC,
    name
LIMIT {limit: UInt32}
SETTINGS
    optimize_use_projections = 0, max_threads = 1, -- optional: few_rows
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0,
    optimize_use_implicit_projections = 0,
    query_plan_filter_push_down = 0
