-- Calls, tokens and cost of one project over a range of time by the values of one column, with the first and the last time of each.
-- by: the column. limit: how many values are listed. All other parameters: see llm_usage.sql.
-- Everything is read from rows: the projection usage_by_hour has neither users nor sessions nor exact times.
-- `entries`: how many values there are before the limit; all_…: their sums. Sums are text, total_cost is in 10^-12 dollars.
WITH
    project_id = {project_id: String}
        AND (empty({agent: Array(String)}) OR agent_name IN {agent: Array(String)}) -- optional: agent
        AND agent_name NOT IN {not_agent: Array(String)} -- optional: not_agent
        AND (empty({user_id: Array(String)}) OR user_id IN {user_id: Array(String)}) -- optional: user_id
        AND user_id NOT IN {not_user_id: Array(String)} -- optional: not_user_id
        AND (empty({session_id: Array(String)}) OR session_id IN {session_id: Array(String)}) -- optional: session_id
        AND session_id NOT IN {not_session_id: Array(String)} -- optional: not_session_id
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND occurred_at < {before: DateTime64(3, 'UTC')}
    AS is_match,
    count() AS n,
    sum(toUInt128(input_tokens)) AS input,
    sum(toUInt128(output_tokens)) AS output,
    sum(toUInt128(cached_input_tokens)) AS cached,
    sum(toUInt128(reasoning_tokens)) AS reasoning,
    sum(toInt256(round(least(ifNull(cost_usd, 0), 1e30) * 1e12))) AS cost,
    min(occurred_at) AS first,
    max(occurred_at) AS last
SELECT
    toString(value) AS name,
    count() OVER () AS entries,
    sum(rows.n) AS calls,
    toString(sum(rows.input)) AS input_tokens,
    toString(sum(rows.output)) AS output_tokens,
    toString(sum(rows.cached)) AS cached_input_tokens,
    toString(sum(rows.reasoning)) AS reasoning_tokens,
    toString(sum(rows.cost)) AS total_cost,
    min(rows.first) AS first_at,
    max(rows.last) AS last_at,
    sum(calls) OVER () AS all_calls,
    toString(sum(sum(rows.input)) OVER ()) AS all_input_tokens,
    toString(sum(sum(rows.output)) OVER ()) AS all_output_tokens,
    toString(sum(sum(rows.cached)) OVER ()) AS all_cached_input_tokens,
    toString(sum(sum(rows.reasoning)) OVER ()) AS all_reasoning_tokens,
    toString(sum(sum(rows.cost)) OVER ()) AS all_total_cost
FROM
(
    SELECT {by: Identifier} AS value, n, input, output, cached, reasoning, cost, first, last
    FROM llm_invocations
    WHERE is_match
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL -- optional: final_days
    SELECT {by: Identifier} AS value, n, input, output, cached, reasoning, cost, first, last -- optional: final_days
    FROM llm_invocations FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
) AS rows
GROUP BY value
ORDER BY
    sum(rows.cost) DESC,
    calls DESC,
    name
LIMIT {limit: UInt32}
SETTINGS
    optimize_use_projections = 0, max_threads = 1, -- optional: few_rows
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0
