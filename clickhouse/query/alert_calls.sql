-- How many calls agents made in each hour, and when they made the last one. A row that is stored twice until a merge
-- counts twice: the load of an agent need not be exact.
-- project_ids; hours_from, hours_until: whole hours, from the projection counts_by_hour; names_max: the number of
-- agents per project, those with the most calls.
SELECT
    project_id,
    agent_name,
    max(last) AS last_at,
    groupArray(hour_seconds) AS hours,
    groupArray(rows) AS calls
FROM
(
    SELECT
        project_id,
        agent_name,
        toUnixTimestamp(toStartOfHour(occurred_at)) AS hour_seconds,
        count() AS rows,
        max(occurred_at) AS last
    FROM decisions
    WHERE project_id IN {project_ids: Array(String)}
        AND toStartOfHour(occurred_at) >= {hours_from: DateTime('UTC')}
        AND toStartOfHour(occurred_at) < {hours_until: DateTime('UTC')}
    GROUP BY
        project_id,
        agent_name,
        toStartOfHour(occurred_at)
)
GROUP BY
    project_id,
    agent_name
ORDER BY sum(rows) DESC
LIMIT {names_max: UInt32} BY project_id
SETTINGS use_skip_indexes_on_data_read = 0
