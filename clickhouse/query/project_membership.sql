-- One row when the account owns the project or is a member of it, else none.
-- project_id; account_id: never ''.
SELECT project_id
FROM projects FINAL
WHERE project_id = {project_id: String}
    AND (
        owner_id = {account_id: String}
        OR project_id IN (
            SELECT project_id
            FROM project_members FINAL
            WHERE account_id = {account_id: String}
                AND project_id = {project_id: String}
                AND is_member = 1
        )
    )
