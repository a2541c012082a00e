-- The hours of occurred_at that have rows from before the log, oldest first, without those that are complete in the log: these have
-- a row of project '' whose start is the number of the hour since the epoch. since: hours before are expired.
-- is_still: nothing was received in the last ten minutes. An older Gatehouse may still be writing.
SELECT
    toString(toStartOfHour(occurred_at)) AS hour,
    toString(intDiv(toUnixTimestamp(hour), 3600)) AS number,
    max(received_at) < now() - INTERVAL 10 MINUTE AS is_still
FROM decisions
WHERE flush = 0
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND intDiv(toUnixTimestamp(occurred_at), 3600) NOT IN (
        SELECT start
        FROM log_chunks
        WHERE project_id = ''
            AND start > 0
            AND committed_at < proposed_at + INTERVAL 5 MINUTE
    )
GROUP BY hour
ORDER BY hour
