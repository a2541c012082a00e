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
        AND ({agent: Nullable(String)} IS NULL OR agent_name = {agent: Nullable(String)})
        AND ({role: Nullable(String)} IS NULL OR role = {role: Nullable(String)})
        AND ({outcome: Nullable(String)} IS NULL OR toString(outcome) = {outcome: Nullable(String)})
        AND ({tool: Nullable(String)} IS NULL OR tool_name = {tool: Nullable(String)})
        AND ({user_id: Nullable(String)} IS NULL OR user_id = {user_id: Nullable(String)})
        AND ({session_id: Nullable(String)} IS NULL OR session_id = {session_id: Nullable(String)})
    GROUP BY day
    UNION ALL
    SELECT
        toDate(occurred_at) AS day,
        count() AS rows
    FROM decisions FINAL
    WHERE project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toDate(occurred_at) IN {final_days: Array(Date)}
        AND ({agent: Nullable(String)} IS NULL OR agent_name = {agent: Nullable(String)})
        AND ({role: Nullable(String)} IS NULL OR role = {role: Nullable(String)})
        AND ({outcome: Nullable(String)} IS NULL OR toString(outcome) = {outcome: Nullable(String)})
        AND ({tool: Nullable(String)} IS NULL OR tool_name = {tool: Nullable(String)})
        AND ({user_id: Nullable(String)} IS NULL OR user_id = {user_id: Nullable(String)})
        AND ({session_id: Nullable(String)} IS NULL OR session_id = {session_id: Nullable(String)})
    GROUP BY day
)
GROUP BY day
ORDER BY day DESC
SETTINGS do_not_merge_across_partitions_select_final = 1
