-- The hours of occurred_at that have rows from before the log, oldest first, except those that are complete in the log.
-- A complete hour has a row of project '' whose start is the number of the hour since the epoch, written at least ten
-- minutes after its last row was received.
-- since: earlier hours have expired.
-- is_still: nothing was received in the last ten minutes.
-- Otherwise an older Gatehouse may still be writing.
SELECT
    toString(hour_start) AS hour,
    toString(start) AS number,
    still_at < now() AS is_still
FROM
(
    SELECT
        toStartOfHour(occurred_at) AS hour_start,
        toUInt64(intDiv(toUnixTimestamp(hour_start), 3600)) AS start,
        max(received_at) + INTERVAL 10 MINUTE AS still_at
    FROM decisions
    WHERE flush = 0
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
    GROUP BY hour_start
) AS hours
LEFT JOIN
(
    SELECT
        start,
        max(committed_at) AS marked_at
    FROM log_chunks
    WHERE project_id = ''
        AND start > 0
        AND committed_at < proposed_at + INTERVAL 5 MINUTE
    GROUP BY start
) AS marks USING (start)
WHERE marked_at < still_at
ORDER BY hour_start
