-- The projects that an account made.
-- account_id: never ''.
SELECT
    project_id AS id,
    name,
    created_at
FROM projects FINAL
WHERE owner_id = {account_id: String}
ORDER BY
    created_at,
    project_id
