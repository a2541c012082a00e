-- A few pieces of a log with records that were received between two times, one behind another: 8 bytes of start and 8 of the number of
-- entries, little-endian, and the entries, 32 bytes each, also those that end with zeros. project_id; received_from, received_to.
-- Parts that are not merged have no indexes. The conditions stand in PREWHERE, so that only the entries of these pieces are read.
SELECT concat(
    reinterpretAsFixedString(start),
    reinterpretAsFixedString(length(entries)),
    arrayStringConcat(arrayMap(entry -> concat(entry, ''), entries))
)
FROM log_chunks
PREWHERE project_id = {project_id: String}
    AND received_from <= {received_to: DateTime64(3, 'UTC')}
    AND received_to >= {received_from: DateTime64(3, 'UTC')}
WHERE committed_at < proposed_at + INTERVAL 5 MINUTE
LIMIT 4
SETTINGS max_threads = 1
FORMAT RawBLOB
