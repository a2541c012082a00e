-- The index of an entry in the log of a project. project_id; entry: in hex; received_at: of its record.
SELECT toString(start + indexOf(entries, toFixedString(unhex({entry: String}), 32)) - 1) AS index
FROM log_chunks
WHERE project_id = {project_id: String}
    AND received_from <= {received_at: DateTime64(3, 'UTC')}
    AND received_to >= {received_at: DateTime64(3, 'UTC')}
    AND has(entries, toFixedString(unhex({entry: String}), 32))
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
ORDER BY start
LIMIT 1
