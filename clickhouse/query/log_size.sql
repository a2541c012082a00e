-- The number of entries in the log of a project: the end of its last piece that counts. project_id.
SELECT toString(start + intDiv(length(entries), 32)) AS size
FROM log_chunks
WHERE project_id = {project_id: String}
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
ORDER BY start DESC
LIMIT 1
