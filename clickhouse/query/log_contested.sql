-- Of the identities of these inserts, those that more than one writer has marked, or one with several times, with all these times.
-- flushes.
SELECT
    project_id,
    event_id,
    groupUniqArray(occurred_at) AS times
FROM event_identities
WHERE stream = 'decisions'
    AND (project_id, event_id) IN (
        SELECT project_id, event_id
        FROM decisions
        WHERE flush IN arrayMap(number -> toUInt64(number), {flushes: Array(String)})
    )
GROUP BY
    project_id,
    event_id
HAVING uniqExact((writer, occurred_at)) > 1
