-- Concatenated entries of a log, 32 bytes each. A piece has at most 2,048 entries, which bounds where the first piece
-- begins.
-- project_id; from, to: indexes, to exclusive.
SELECT arrayStringConcat(arrayMap(entry -> concat(entry, ''), arraySlice(
    entries,
    1 + if(start < {from: UInt64}, {from: UInt64} - start, 0),
    least({to: UInt64}, start + length(entries)) - greatest({from: UInt64}, start)
)))
FROM log_chunks
WHERE project_id = {project_id: String}
    AND start < {to: UInt64}
    AND start >= if({from: UInt64} < 2048, 0, {from: UInt64} - 2047)
    AND start + length(entries) > {from: UInt64}
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
ORDER BY start
SETTINGS max_threads = 1
FORMAT RawBLOB
