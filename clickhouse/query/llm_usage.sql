-- Calls, tokens and cost of one project over a range of time, and the same by model and by agent, in one pass.
-- project_id; since, before; agent, user_id, session_id and not_…; final_days; limit: length of each list: see summary.sql.
-- hours_from, hours_until: the whole hours of the range, from the projection usage_by_hour; null if all is read from rows.
-- The sums are text, because they may have more digits than a JSON number keeps. total_cost is in 10^-12 dollars.
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
    multiIf(grouping(model) = 0, 'model', grouping(agent_name) = 0, 'agent', '') AS facet,
    multiIf(facet = 'model', model, facet = 'agent', agent_name, '') AS name,
    sum(rows.n) AS calls,
    toString(sum(rows.input)) AS input_tokens,
    toString(sum(rows.output)) AS output_tokens,
    toString(sum(rows.cached)) AS cached_input_tokens,
    toString(sum(rows.reasoning)) AS reasoning_tokens,
    toString(sum(rows.cost)) AS total_cost
FROM
(
    SELECT agent_name, model, n, input, output, cached, reasoning, cost -- optional: hours_from
    FROM llm_invocations -- optional: hours_from
    WHERE is_match -- optional: hours_from
        AND toStartOfHour(occurred_at) >= {hours_from: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toStartOfHour(occurred_at) < {hours_until: Nullable(DateTime('UTC'))} -- optional: hours_from
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: hours_from, final_days
    GROUP BY ALL -- optional: hours_from
    UNION ALL -- optional: hours_from
    SELECT agent_name, model, n, input, output, cached, reasoning, cost
    FROM llm_invocations
    WHERE is_match
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND occurred_at < {before: DateTime64(3, 'UTC')}
        AND ({hours_from: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {hours_from: Nullable(DateTime64(3, 'UTC'))} OR occurred_at >= {hours_until: Nullable(DateTime64(3, 'UTC'))}) -- optional: hours_from
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL -- optional: final_days
    SELECT agent_name, model, n, input, output, cached, reasoning, cost -- optional: final_days
    FROM llm_invocations FINAL -- optional: final_days
    WHERE is_match -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND occurred_at < {before: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
) AS rows
GROUP BY GROUPING SETS ((), (model), (agent_name))
ORDER BY
    facet,
    calls DESC,
    name
LIMIT {limit: UInt32} BY facet
SETTINGS
    optimize_use_projections = 0, max_threads = 1, -- optional: few_rows
    do_not_merge_across_partitions_select_final = 1
