-- The role of an account in a project; no row when it is not a member. See project_members.sql for what counts.
-- project_id; account_id: never ''.
SELECT argMax(held_role, rank) AS role
FROM
(
    SELECT
        'owner' AS held_role,
        2 AS rank
    FROM projects FINAL
    WHERE project_id = {project_id: String}
        AND owner_id = {account_id: String}
    UNION ALL
    SELECT
        multiIf(is_member = 0, '', role = '', 'admin', role) AS held_role,
        if(role = '', 1, 3) AS rank
    FROM project_members FINAL
    WHERE account_id = {account_id: String}
        AND project_id = {project_id: String}
)
HAVING role != ''
