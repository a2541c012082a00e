-- The highest version of a pair of account and project in project_members, 0 when it has no row.
-- account_id; project_id.
SELECT max(version) AS version
FROM project_members
WHERE account_id = {account_id: String}
    AND project_id = {project_id: String}
