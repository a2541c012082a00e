-- The project of an owner with a name. The claim allows one. Should several exist, the one created first counts.
-- owner_id: an account, '' for projects made by command line; name_folded: the name as it is compared.
SELECT
    project_id AS id,
    name,
    created_at
FROM projects FINAL
WHERE owner_id = {owner_id: String}
    AND name_folded = {name_folded: String}
ORDER BY
    created_at,
    project_id
LIMIT 1
