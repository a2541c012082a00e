-- Of the identities of these inserts, those that more than one writer has marked, or one with several times, with all these times.
-- flushes; by_writer: 0 takes two writers for one. log_mark is one more writer of every row, and log_doubled finds rows of one time.
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
