-- The identities of these inserts that several writers have marked, or one writer with several times, with all these
-- times.
-- flushes; by_writer: 0 counts two writers as one. log_mark counts as one more writer of every row, and log_doubled
-- finds rows with the same time.
SELECT
    project_id,
    event_id,
    groupUniqArray(occurred_at) AS times
FROM event_identities
WHERE stream = 'decisions'
    AND (project_id, event_id) IN (
        SELECT project_id, event_id
        FROM decisions
        WHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
    )
GROUP BY
    project_id,
    event_id
HAVING uniqExact((if({by_writer: UInt8} = 1, writer, 0), occurred_at)) > 1
