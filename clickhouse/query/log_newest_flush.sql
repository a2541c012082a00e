-- The newest insert that is complete in the log, and when a round with inserts was last proposed: 0 for none. round: only rounds after it are read.
SELECT
    toString(max(arrayMax(flushes))) AS flush,
    toUnixTimestamp64Milli(max(proposed_at)) AS at_ms
FROM log_chunks
WHERE round > {round: UInt64}
    AND notEmpty(flushes)
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
