-- The projects whose logs grew in rounds after this one, and the newest round. round.
SELECT
    project_id,
    toString(max(log_chunks.round)) AS newest
FROM log_chunks
WHERE round > {round: UInt64}
GROUP BY project_id
