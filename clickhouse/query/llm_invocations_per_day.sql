-- The number of model calls of one project per day, newest first; days without one are left out. Parameters: see
-- llm_invocations_page.sql and llm_usage.sql. The projection usage_by_hour has agents and models only.
-- llm_usage_over_time.sql counts them as well, but its sums of tokens and money take up to twice as long.
WITH
    project_id = {project_id: String}
        AND (empty({agent: Array(String)}) OR agent_name IN {agent: Array(String)}) -- optional: agent
        AND agent_name NOT IN {not_agent: Array(String)} -- optional: not_agent
        AND (empty({model: Array(String)}) OR model IN {model: Array(String)}) -- optional: model
        AND model NOT IN {not_model: Array(String)} -- optional: not_model
        AND (empty({role: Array(String)}) OR role IN {role: Array(String)}) -- optional: role
        AND role NOT IN {not_role: Array(String)} -- optional: not_role
        AND (empty({user_id: Array(String)}) OR user_id IN {user_id: Array(String)}) -- optional: user_id
        AND user_id NOT IN {not_user_id: Array(String)} -- optional: not_user_id
        AND (empty({session_id: Array(String)}) OR session_id IN {session_id: Array(String)}) -- optional: session_id
        AND session_id NOT IN {not_session_id: Array(String)} -- optional: not_session_id
    AS is_match
SELECT
    toString(date) AS day,
    sum(calls) AS total
FROM
(
    SELECT toDate(toStartOfHour(occurred_at)) AS date, count() AS calls -- optional: hours_from
    FROM llm_invocations -- optional: hours_from
    WHERE is_match -- optional: hours_from
        AND toStartOfHour(occurred_at) >= {hours_from: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toStartOfHour(occurred_at) < {hours_until: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: hours_from, final_days
    GROUP BY ALL -- optional: hours_from
    UNION ALL -- optional: hours_from
    SELECT toDate(occurred_at) AS date, count() AS calls
    FROM llm_invocations
    WHERE is_match
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND occurred_at < {before: DateTime64(3, 'UTC')}
        AND ({hours_from: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {hours_from: Nullable(DateTime64(3, 'UTC'))} OR occurred_at >= {hours_until: Nullable(DateTime64(3, 'UTC'))}) -- optional: hours_from
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL -- optional: final_days
    SELECT toDate(occurred_at) AS date, count() AS calls -- optional: final_days
    FROM llm_invocations FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND occurred_at < {before: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
)
GROUP BY day
ORDER BY day DESC
SETTINGS
    optimize_use_projections = 0, max_threads = 1, -- optional: few_rows
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0
