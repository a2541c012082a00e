-- How far a witness signed the log of a project, and when it did so last; no row: never. project_id; witness.
SELECT
    toString(max(log_cosignatures.size)) AS size,
    toString(toUnixTimestamp64Milli(max(cosigned_at))) AS at_ms
FROM log_cosignatures
WHERE project_id = {project_id: String}
    AND witness = {witness: String}
HAVING count() > 0
