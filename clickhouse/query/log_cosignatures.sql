-- The cosignatures of the checkpoint of one size, by the names of the witnesses.
-- project_id; size.
SELECT DISTINCT
    witness,
    line
FROM log_cosignatures
WHERE project_id = {project_id: String}
    AND size = {size: UInt64}
ORDER BY
    witness,
    line
SETTINGS max_threads = 1
