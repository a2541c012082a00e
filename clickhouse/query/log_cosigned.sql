-- The largest checkpoint of a project that a witness has signed with its current key, and when it last did so; no row:
-- never.
-- project_id; witness; key_id: of the key, the first four bytes of each signature, in hex.
SELECT
    toString(max(log_cosignatures.size)) AS size,
    toString(toUnixTimestamp64Milli(max(cosigned_at))) AS at_ms
FROM log_cosignatures
WHERE project_id = {project_id: String}
    AND witness = {witness: String}
    AND startsWith(tryBase64Decode(splitByChar(' ', line)[3]), unhex({key_id: String}))
HAVING count() > 0
