-- Calls, tokens and cost of one project over a window, and the same by model and by agent, in one pass.
-- project_id; since: records with occurred_at from here on; limit: length of each list; final_days: see summary.sql.
-- Whole hours come from the projection usage_by_hour, the first hour of the window from rows.
-- The sums are text: they may have more digits than a JSON number keeps. total_cost is in 10^-12 dollars.
WITH
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
    SELECT agent_name, model, n, input, output, cached, reasoning, cost
    FROM llm_invocations
    WHERE project_id = {project_id: String}
        AND toStartOfHour(occurred_at) > toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL
    SELECT agent_name, model, n, input, output, cached, reasoning, cost
    FROM llm_invocations
    WHERE project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toStartOfHour(occurred_at) = toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL -- optional: final_days
    SELECT agent_name, model, n, input, output, cached, reasoning, cost -- optional: final_days
    FROM llm_invocations FINAL -- optional: final_days
    WHERE project_id = {project_id: String} -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
) AS rows
GROUP BY GROUPING SETS ((), (model), (agent_name))
ORDER BY
    facet,
    calls DESC,
    name
LIMIT {limit: UInt32} BY facet
SETTINGS do_not_merge_across_partitions_select_final = 1
