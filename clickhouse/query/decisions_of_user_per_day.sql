-- As decisions_per_day, with the filters user_id and session_id as well.
-- The projection by_user answers for a user; the index of_session finds the rows of a session.
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
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)}
        AND agent_name = {agent: Nullable(String)}
        AND role = {role: Nullable(String)}
        AND toString(outcome) = {outcome: Nullable(String)}
        AND tool_name = {tool: Nullable(String)}
        AND user_id = {user_id: Nullable(String)}
        AND session_id = {session_id: Nullable(String)}
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
        AND user_id = {user_id: Nullable(String)}
        AND session_id = {session_id: Nullable(String)}
    GROUP BY day
)
GROUP BY day
ORDER BY day DESC
SETTINGS
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0
