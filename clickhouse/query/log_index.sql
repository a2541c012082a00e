-- The index of an entry in the log of a project. project_id; entry: in hex; received_at: of its record.
-- Parts that are not merged have no indexes. With the conditions in PREWHERE, entries are read only from pieces of that
-- time.
SELECT toString(min(start + indexOf(entries, toFixedString(unhex({entry: String}), 32)) - 1)) AS index
FROM log_chunks
PREWHERE project_id = {project_id: String}
    AND received_from <= {received_at: DateTime64(3, 'UTC')}
    AND received_to >= {received_at: DateTime64(3, 'UTC')}
WHERE has(entries, toFixedString(unhex({entry: String}), 32))
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
HAVING count() > 0
SETTINGS max_threads = 1
