-- The calls of each agent and tool in the windows that end at an evaluation.
-- project_ids; long_from, short_from, minute_from, until; names_max: the number of rows per project, those with the
-- most calls.
-- final_days: see summary.sql.
SELECT
    project_id,
    agent_name,
    tool_name,
    sum(rows) AS long_total,
    sumIf(rows, outcome = 'deny') AS long_denied,
    sum(short_rows) AS short_total,
    sumIf(short_rows, outcome = 'deny') AS short_denied,
    sum(minute_rows) AS minute_total,
    sumIf(minute_rows, outcome = 'deny') AS minute_denied,
    min(first) AS first_at,
    max(last) AS last_at
FROM
(
    SELECT
        project_id, agent_name, tool_name, outcome,
        count() AS rows,
        countIf(occurred_at >= {short_from: DateTime64(3, 'UTC')}) AS short_rows,
        countIf(occurred_at >= {minute_from: DateTime64(3, 'UTC')}) AS minute_rows,
        min(occurred_at) AS first,
        max(occurred_at) AS last
    FROM decisions
    WHERE project_id IN {project_ids: Array(String)}
        AND occurred_at >= {long_from: DateTime64(3, 'UTC')}
        AND occurred_at < {until: DateTime64(3, 'UTC')}
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL -- optional: final_days
    SELECT -- optional: final_days
        project_id, agent_name, tool_name, outcome, -- optional: final_days
        count() AS rows, -- optional: final_days
        countIf(occurred_at >= {short_from: DateTime64(3, 'UTC')}) AS short_rows, -- optional: final_days
        countIf(occurred_at >= {minute_from: DateTime64(3, 'UTC')}) AS minute_rows, -- optional: final_days
        min(occurred_at) AS first, -- optional: final_days
        max(occurred_at) AS last -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE project_id IN {project_ids: Array(String)} -- optional: final_days
        AND occurred_at >= {long_from: DateTime64(3, 'UTC')} -- optional: final_days
        AND occurred_at < {until: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
)
GROUP BY
    project_id,
    agent_name,
    tool_name
ORDER BY long_total DESC
LIMIT {names_max: UInt32} BY project_id
SETTINGS
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0
