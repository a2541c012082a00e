-- The newest insert that is complete in the log, 0 for none. round: only rounds after it are read.
SELECT toString(max(arrayMax(flushes))) AS flush
FROM log_chunks
WHERE round > {round: UInt64}
    AND notEmpty(flushes)
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
