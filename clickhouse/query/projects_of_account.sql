-- The projects that an account is a member of, oldest first. See project_members.sql for what counts.
-- account_id: never ''.
SELECT
    project_id AS id,
    name,
    created_at
FROM projects FINAL
WHERE project_id IN (
    SELECT project_id
    FROM
    (
        SELECT
            project_id,
            'owner' AS held_role,
            2 AS rank
        FROM projects FINAL
        WHERE owner_id = {account_id: String}
        UNION ALL
        SELECT
            project_id,
            multiIf(is_member = 0, '', role = '', 'admin', role) AS held_role,
            if(role = '', 1, 3) AS rank
        FROM project_members FINAL
        WHERE account_id = {account_id: String}
    )
    GROUP BY project_id
    HAVING argMax(held_role, rank) != ''
)
ORDER BY
    created_at,
    project_id
