-- The newest row of an account in project_members, 0 and '' when it has none, and the highest version of any row of the project.
-- account_id; project_id.
SELECT
    max(version) AS project_version,
    maxIf(version, account_id = {account_id: String}) AS own_version,
    argMaxIf(is_member, version, account_id = {account_id: String}) AS is_member,
    argMaxIf(role, version, account_id = {account_id: String}) AS role,
    argMaxIf(by_group, version, account_id = {account_id: String}) AS by_group
FROM project_members
WHERE project_id = {project_id: String}
