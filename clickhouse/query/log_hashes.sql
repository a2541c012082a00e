-- Concatenated stored hashes of complete subtrees of a log: 8 bytes for the position in the level, little-endian, then
-- 32 bytes of hash. Hashes that are not stored yet are left out.
-- project_id; level; from, to: positions in the level, to exclusive.
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
