-- The calls of each agent and tool before the windows of an evaluation: denials and calls of some days, from the
-- projection counts_by_hour, and the first time of each. For earlier days, the first time comes from counts_by_day.
-- project_ids; hours_from, hours_until: the whole hours to count; days_from, days_until: the whole days that are only
-- searched for the first time; names_max: the number of rows per project, those with the most calls.
-- final_days: see summary.sql.
SELECT
    project_id,
    agent_name,
    tool_name,
    sum(rows) AS total,
    sumIf(rows, outcome = 'deny') AS denied,
    min(first) AS first_at
FROM
(
    SELECT project_id, agent_name, tool_name, outcome, 0 * count() AS rows, min(occurred_at) AS first
    FROM decisions
    WHERE project_id IN {project_ids: Array(String)}
        AND toDate(occurred_at) >= {days_from: Date}
        AND toDate(occurred_at) < {days_until: Date}
    GROUP BY project_id, agent_name, tool_name, outcome
    UNION ALL
    SELECT project_id, agent_name, tool_name, outcome, count() AS rows, min(occurred_at) AS first
    FROM decisions
    WHERE project_id IN {project_ids: Array(String)}
        AND toStartOfHour(occurred_at) >= {hours_from: DateTime('UTC')}
        AND toStartOfHour(occurred_at) < {hours_until: DateTime('UTC')}
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY project_id, agent_name, tool_name, outcome
    UNION ALL -- optional: final_days
    SELECT project_id, agent_name, tool_name, outcome, count() AS rows, min(occurred_at) AS first -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE project_id IN {project_ids: Array(String)} -- optional: final_days
        AND toStartOfHour(occurred_at) >= {hours_from: DateTime('UTC')} -- optional: final_days
        AND toStartOfHour(occurred_at) < {hours_until: DateTime('UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY project_id, agent_name, tool_name, outcome -- optional: final_days
)
GROUP BY
    project_id,
    agent_name,
    tool_name
ORDER BY total DESC
LIMIT {names_max: UInt32} BY project_id
SETTINGS
    do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_on_data_read = 0
