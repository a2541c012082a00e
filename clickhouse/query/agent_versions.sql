-- All versions of one agent, newest first, without their tools, texts and modules. project_id, agent_name.
-- If several rows have the same version number, the one created first counts, with its latest signature.
SELECT
    agent_name,
    version,
    created_at,
    agent_version_id,
    agent_id,
    created_by,
    bundle_signature_b64,
    etag,
    note
FROM agent_versions
WHERE project_id = {project_id: String}
    AND agent_name = {agent_name: String}
ORDER BY
    version DESC,
    created_at,
    agent_version_id,
    signed_at DESC
LIMIT 1 BY version
