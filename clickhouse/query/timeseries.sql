-- Outcome counts of one project over a window by the hour, oldest first; hours without a record are left out.
-- project_id; since: records with occurred_at from here on; final_days: see summary.sql.
-- Whole hours come from the projection `series`, the first hour of the window from rows.
SELECT
    toUnixTimestamp(hour) AS hour_seconds,
    sum(rows) AS total,
    sumIf(rows, outcome = 'allow') AS allow,
    sumIf(rows, outcome = 'deny') AS deny,
    sumIf(rows, outcome = 'needs_approval') AS needs_approval
FROM
(
    SELECT toStartOfHour(occurred_at) AS hour, outcome, count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND toStartOfHour(occurred_at) > toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL
    SELECT toStartOfHour(occurred_at) AS hour, outcome, count() AS rows
    FROM decisions
    WHERE project_id = {project_id: String}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND toStartOfHour(occurred_at) = toStartOfHour({since: DateTime64(3, 'UTC')})
        AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL
    UNION ALL -- optional: final_days
    SELECT toStartOfHour(occurred_at) AS hour, outcome, count() AS rows -- optional: final_days
    FROM decisions FINAL -- optional: final_days
    WHERE project_id = {project_id: String} -- optional: final_days
        AND occurred_at >= {since: DateTime64(3, 'UTC')} -- optional: final_days
        AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
    GROUP BY ALL -- optional: final_days
)
GROUP BY hour
ORDER BY hour
SETTINGS do_not_merge_across_partitions_select_final = 1
