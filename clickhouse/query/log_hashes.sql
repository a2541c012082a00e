-- Stored hashes of complete subtrees of a log, one behind another: 8 bytes of place in the level, little-endian, 32 of hash. Those that are
-- not stored yet are left out.
-- project_id; level; from, to: places in the level, without the last.
SELECT concat(reinterpretAsFixedString(idx), any(hash))
FROM log_hashes
WHERE project_id = {project_id: String}
    AND level = {level: UInt8}
    AND idx >= {from: UInt64}
    AND idx < {to: UInt64}
GROUP BY idx
ORDER BY idx
SETTINGS max_threads = 1
FORMAT RawBLOB
