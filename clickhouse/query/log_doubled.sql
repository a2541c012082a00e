-- The identities of these inserts that have several rows on the days of the inserts. Two rows of one writer share one
-- mark.
-- flushes.
SELECT
    project_id,
    event_id,
    groupUniqArray(occurred_at) AS times
FROM decisions
WHERE toDate(occurred_at) IN (
        SELECT toDate(occurred_at)
        FROM decisions
        WHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
    )
    AND (project_id, event_id) IN (
        SELECT project_id, event_id
        FROM decisions
        WHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
    )
GROUP BY
    project_id,
    event_id
HAVING count() > 1
