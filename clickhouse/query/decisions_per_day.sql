-- How many records of one project match, by day, newest first: the total of the list, and where its pages lie.
-- project_id; since: records with occurred_at from here on; final_days: see summary.sql.
-- agent, role, outcome, tool: '' selects the empty value (SPECIFICATION 4.5); see decisions_page.sql.
-- Whole days come from the projection by_day, the whole hours of the first day from by_hour, its first hour from rows.
SELECT
    day,
    sum(rows) AS total
FROM
(
    SELECT
        toDate(occurred_at) AS day,
        count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND toDate(occurred_at) > toDate({since: DateTime64(3, 'UTC')})
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)}
        AND agent_name = {agent: Nullable(String)}
        AND role = {role: Nullable(String)}
        AND toString(outcome) = {outcome: Nullable(String)}
        AND tool_name = {tool: Nullable(String)}
    GROUP BY day
    UNION ALL
    SELECT
        toDate(toStartOfHour(occurred_at)) AS day,
        count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND toDate(toStartOfHour(occurred_at)) = toDate({since: DateTime64(3, 'UTC')})
        AND toStartOfHour(occurred_at) > toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)}
        AND agent_name = {agent: Nullable(String)}
        AND role = {role: Nullable(String)}
        AND toString(outcome) = {outcome: Nullable(String)}
        AND tool_name = {tool: Nullable(String)}
    GROUP BY day
    UNION ALL
    SELECT
        toDate(occurred_at) AS day,
        count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toStartOfHour(occurred_at) = toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)}
        AND agent_name = {agent: Nullable(String)}
        AND role = {role: Nullable(String)}
        AND toString(outcome) = {outcome: Nullable(String)}
        AND tool_name = {tool: Nullable(String)}
    GROUP BY day
    UNION ALL
    SELECT
        toDate(occurred_at) AS day,
        count() AS rows
    FROM decisions FINAL
    WHERE project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toDate(occurred_at) IN {final_days: Array(Date)}
        AND agent_name = {agent: Nullable(String)}
        AND role = {role: Nullable(String)}
        AND toString(outcome) = {outcome: Nullable(String)}
        AND tool_name = {tool: Nullable(String)}
    GROUP BY day
)
GROUP BY day
ORDER BY day DESC
SETTINGS do_not_merge_across_partitions_select_final = 1
