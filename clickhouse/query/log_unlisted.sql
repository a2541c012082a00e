-- Inserts whose records are not known to be in the log, with their number of records.
-- flush_from, flush_to: their numbers; round: only later rounds are searched.
SELECT
    toString(flush) AS number,
    toString(count()) AS rows
FROM decisions
WHERE flush >= {flush_from: UInt64}
    AND flush <= {flush_to: UInt64}
    AND flush NOT IN (
        SELECT arrayJoin(flushes)
        FROM log_chunks
        WHERE round > {round: UInt64}
            AND committed_at < proposed_at + INTERVAL 5 MINUTE
    )
GROUP BY flush
ORDER BY flush
