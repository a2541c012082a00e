-- The ranges of 100,000 rounds of the logs, oldest first, with what changes when a range grows.
SELECT
    toString(intDiv(round, 100000)) AS range,
    toString(count()) AS rows,
    toString(max(committed_at)) AS newest
FROM log_chunks
WHERE project_id != ''
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
GROUP BY intDiv(round, 100000)
ORDER BY intDiv(round, 100000)
