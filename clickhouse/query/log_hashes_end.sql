-- The position after the last stored hash of a level.
-- project_id; level.
SELECT toString(idx + 1) AS next
FROM log_hashes
WHERE project_id = {project_id: String}
    AND level = {level: UInt8}
ORDER BY idx DESC
LIMIT 1
