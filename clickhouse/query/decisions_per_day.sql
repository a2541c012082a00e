-- How many records of one project match, by day, newest first: the total of the list, and where its pages lie.
-- since: records with occurred_at from here on; final_days: see summary.sql; filters: see decisions_page.sql.
-- first_day: see summary.sql. Whole days come from the projection by_day, the whole hours of first_day from by_hour, the first hour from rows.
WITH
    project_id = {project_id: String}
        AND ({agent: Nullable(String)} IS NULL OR agent_name = {agent: Nullable(String)}) -- optional: agent
        AND ({role: Nullable(String)} IS NULL OR role = {role: Nullable(String)}) -- optional: role
        AND ({outcome: Nullable(String)} IS NULL OR toString(outcome) = {outcome: Nullable(String)}) -- optional: outcome
        AND ({tool: Nullable(String)} IS NULL OR tool_name = {tool: Nullable(String)}) -- optional: tool
    AS is_match
SELECT
    day,
    sum(rows) AS total
FROM
(
    SELECT toDate(occurred_at) AS day, count() AS rows -- optional: first_day
    FROM decisions -- optional: first_day
    WHERE is_match -- optional: first_day
        AND toDate(occurred_at) > {first_day: Nullable(Date)} -- optional: first_day
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: first_day, final_days
    GROUP BY day -- optional: first_day
    UNION ALL -- optional: first_day
    SELECT toDate(toStartOfHour(occurred_at)) AS day, count() AS rows
    FROM decisions
    WHERE is_match
        AND ({first_day: Nullable(Date)} IS NULL OR toDate(toStartOfHour(occurred_at)) = {first_day: Nullable(Date)}) -- optional: first_day
        AND toStartOfHour(occurred_at) > toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY day
    UNION ALL
    SELECT toDate(occurred_at) AS day, count() AS rows
    FROM decisions
    WHERE is_match
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toStartOfHour(occurred_at) = toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY day
    UNION ALL -- optional: final_days
    SELECT toDate(occurred_at) AS day, count() AS rows -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY day -- optional: final_days
)
GROUP BY day
ORDER BY day DESC
SETTINGS do_not_merge_across_partitions_select_final = 1
