-- The highest version of a pair of account and project in project_members, 0 when it has no row, and whether a group gave what that says.
-- account_id; project_id.
SELECT
    max(project_members.version) AS version,
    argMax(project_members.by_group, project_members.version) AS by_group
FROM project_members
WHERE account_id = {account_id: String}
    AND project_id = {project_id: String}
