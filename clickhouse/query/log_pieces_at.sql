-- A few pieces of a log with records that were received between two times, concatenated: 8 bytes of start and 8 of the
-- number of entries, little-endian, then the entries, 32 bytes each, including those that end with zeros.
-- project_id; received_from, received_to.
-- Parts that are not merged have no indexes. With the conditions in PREWHERE, only the entries of these pieces are
-- read.
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
