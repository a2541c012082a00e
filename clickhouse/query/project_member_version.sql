-- Whether the newest row of an account in project_members is from a group, 0 when it has none, and the highest version of any row of the
-- project.
-- account_id; project_id.
SELECT
    max(version) AS project_version,
    argMaxIf(by_group, version, account_id = {account_id: String}) AS by_group
FROM project_members
WHERE project_id = {project_id: String}
