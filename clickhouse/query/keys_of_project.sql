-- The bearer keys of a project in their current state, oldest first. The newest row of a key has the highest version,
-- and all its rows have the same created_at. FINAL is not used: it would read the keys of all projects.
-- project_id.
SELECT
    key_id,
    project_id,
    name,
    scope,
    agents,
    created_by,
    created_at,
    expires_at,
    revoked_at
FROM api_keys
WHERE project_id = {project_id: String}
ORDER BY
    created_at,
    key_id,
    version DESC
LIMIT 1 BY key_id
