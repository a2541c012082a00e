-- How far a witness signed the log of a project with its present key, and when it did so last; no row: never.
-- project_id; witness; key_id: of the key, four bytes in hex, with which a signature begins.
SELECT
    toString(max(log_cosignatures.size)) AS size,
    toString(toUnixTimestamp64Milli(max(cosigned_at))) AS at_ms
FROM log_cosignatures
WHERE project_id = {project_id: String}
    AND witness = {witness: String}
    AND startsWith(tryBase64Decode(splitByChar(' ', line)[3]), unhex({key_id: String}))
HAVING count() > 0
