-- The members of a project with their roles: owners first, then in the order in which they were added.
-- project_id.
-- The row of an account with the highest rank counts: one with its role (3), having made the project (2), or one from
-- before roles (1).
SELECT
    account_id,
    argMax(held_role, rank) AS role,
    argMax(held_since, rank) AS added_at
FROM
(
    SELECT
        owner_id AS account_id,
        'owner' AS held_role,
        created_at AS held_since,
        2 AS rank
    FROM projects FINAL
    WHERE project_id = {project_id: String}
        AND owner_id != ''
    UNION ALL
    SELECT
        account_id,
        multiIf(is_member = 0, '', role = '', 'admin', role) AS held_role,
        added_at AS held_since,
        if(role = '', 1, 3) AS rank
    FROM project_members FINAL
    WHERE project_id = {project_id: String}
)
GROUP BY account_id
HAVING role != ''
ORDER BY
    role = 'owner' DESC,
    added_at,
    account_id
