-- The number of entries in the log of a project: the end of its last piece that counts. project_id; round: the last one that counts.
SELECT toString(start + length(entries)) AS size
FROM log_chunks
WHERE project_id = {project_id: String}
    AND ({round: Nullable(UInt64)} IS NULL OR round <= {round: Nullable(UInt64)}) -- optional: round
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
ORDER BY start DESC
LIMIT 1
SETTINGS max_threads = 1
