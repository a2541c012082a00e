-- The newest round of the log, 0 for none.
SELECT toString(max(round)) AS newest
FROM log_chunks
