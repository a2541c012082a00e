-- The owner and the members of a project, the owner first, then as they were added.
-- project_id. Rows of project_members: the highest version of a pair counts.
SELECT
    account_id,
    is_owner,
    added_at
FROM
(
    SELECT
        owner_id AS account_id,
        1 AS is_owner,
        created_at AS added_at
    FROM projects FINAL
    WHERE project_id = {project_id: String}
        AND owner_id != ''
    UNION ALL
    SELECT
        account_id,
        0 AS is_owner,
        changed_at AS added_at
    FROM project_members FINAL
    WHERE project_id = {project_id: String}
        AND is_member = 1
)
ORDER BY
    is_owner DESC,
    added_at,
    account_id
