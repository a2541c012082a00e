-- Stored hashes of complete subtrees of a log, 32 bytes each, one behind another. Those that are not stored yet are left out.
-- project_id; level; from, to: places in the level, without the last.
SELECT any(hash)
FROM log_hashes
WHERE project_id = {project_id: String}
    AND level = {level: UInt8}
    AND idx >= {from: UInt64}
    AND idx < {to: UInt64}
GROUP BY idx
ORDER BY idx
FORMAT RawBLOB
