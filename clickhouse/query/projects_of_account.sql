-- The projects that an account owns or is a member of, oldest first.
-- account_id: never ''. Rows of project_members: the highest version of a pair counts.
SELECT
    project_id AS id,
    name,
    created_at
FROM projects FINAL
WHERE owner_id = {account_id: String}
    OR project_id IN (
        SELECT project_id
        FROM project_members FINAL
        WHERE account_id = {account_id: String}
            AND is_member = 1
    )
ORDER BY
    created_at,
    project_id
