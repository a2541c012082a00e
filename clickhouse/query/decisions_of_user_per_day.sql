-- As decisions_per_day, with the filters user_id and session_id as well.
-- The projection by_user answers for a user; the index of_session finds the rows of a session.
WITH
    project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND ({agent: Nullable(String)} IS NULL OR agent_name = {agent: Nullable(String)}) -- optional: agent
        AND ({role: Nullable(String)} IS NULL OR role = {role: Nullable(String)}) -- optional: role
        AND ({outcome: Nullable(String)} IS NULL OR toString(outcome) = {outcome: Nullable(String)}) -- optional: outcome
        AND ({tool: Nullable(String)} IS NULL OR tool_name = {tool: Nullable(String)}) -- optional: tool
        AND ({user_id: Nullable(String)} IS NULL OR user_id = {user_id: Nullable(String)}) -- optional: user_id
        AND ({session_id: Nullable(String)} IS NULL OR session_id = {session_id: Nullable(String)}) -- optional: session_id
    AS is_match
SELECT
    day,
    sum(rows) AS total
FROM
(
    SELECT toDate(occurred_at) AS day, count() AS rows
    FROM decisions
    WHERE is_match
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY day
    UNION ALL -- optional: final_days
    SELECT toDate(occurred_at) AS day, count() AS rows -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY day -- optional: final_days
)
GROUP BY day
ORDER BY day DESC
SETTINGS
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0
