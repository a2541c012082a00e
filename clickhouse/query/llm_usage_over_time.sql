-- Calls, tokens and cost of one project in buckets of time, oldest first; buckets without a call are left out.
-- bucket_seconds: see decisions_over_time.sql; everything else: see llm_usage.sql.
WITH
    project_id = {project_id: String}
        AND (empty({agent: Array(String)}) OR agent_name IN {agent: Array(String)}) -- optional: agent
        AND agent_name NOT IN {not_agent: Array(String)} -- optional: not_agent
        AND (empty({user_id: Array(String)}) OR user_id IN {user_id: Array(String)}) -- optional: user_id
        AND user_id NOT IN {not_user_id: Array(String)} -- optional: not_user_id
        AND (empty({session_id: Array(String)}) OR session_id IN {session_id: Array(String)}) -- optional: session_id
        AND session_id NOT IN {not_session_id: Array(String)} -- optional: not_session_id
    AS is_match,
    count() AS n,
    sum(toUInt128(input_tokens)) AS input,
    sum(toUInt128(output_tokens)) AS output,
    sum(toUInt128(cached_input_tokens)) AS cached,
    sum(toUInt128(reasoning_tokens)) AS reasoning,
    sum(toInt256(round(least(ifNull(cost_usd, 0), 1e30) * 1e12))) AS cost
SELECT
    start_seconds,
    sum(rows.n) AS calls,
    toString(sum(rows.input)) AS input_tokens,
    toString(sum(rows.output)) AS output_tokens,
    toString(sum(rows.cached)) AS cached_input_tokens,
    toString(sum(rows.reasoning)) AS reasoning_tokens,
    toString(sum(rows.cost)) AS total_cost
FROM
(
    SELECT intDiv(toUnixTimestamp(toStartOfHour(occurred_at)), {bucket_seconds: UInt32}) * {bucket_seconds: UInt32} AS start_seconds, n, input, output, cached, reasoning, cost -- optional: hours_from
    FROM llm_invocations -- optional: hours_from
    WHERE is_match -- optional: hours_from
        AND toStartOfHour(occurred_at) >= {hours_from: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toStartOfHour(occurred_at) < {hours_until: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: hours_from, final_days
    GROUP BY ALL -- optional: hours_from
    UNION ALL -- optional: hours_from
    SELECT intDiv(toUnixTimestamp(occurred_at), {bucket_seconds: UInt32}) * {bucket_seconds: UInt32} AS start_seconds, n, input, output, cached, reasoning, cost
    FROM llm_invocations
    WHERE is_match
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND occurred_at < {before: DateTime64(3, 'UTC')}
        AND ({hours_from: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {hours_from: Nullable(DateTime64(3, 'UTC'))} OR occurred_at >= {hours_until: Nullable(DateTime64(3, 'UTC'))}) -- optional: hours_from
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL -- optional: final_days
    SELECT intDiv(toUnixTimestamp(occurred_at), {bucket_seconds: UInt32}) * {bucket_seconds: UInt32} AS start_seconds, n, input, output, cached, reasoning, cost -- optional: final_days
    FROM llm_invocations FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND occurred_at < {before: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
) AS rows
GROUP BY start_seconds
ORDER BY start_seconds
SETTINGS
    optimize_use_projections = 0, max_threads = 1, -- optional: few_rows
    do_not_merge_across_partitions_select_final = 1
