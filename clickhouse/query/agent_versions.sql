-- All versions of one agent, newest first, without their texts and bundles. project_id, agent_name.
-- Of rows with the same version number the first created counts, with its latest signature.
SELECT
    project_id,
    agent_name,
    version,
    created_at,
    agent_version_id,
    agent_id,
    created_by,
    tools,
    '' AS agent_yaml,
    '' AS policy_yaml,
    '' AS system_md,
    if(bundle_wasm_b64 = '', '', '+') AS bundle_wasm_b64,
    '' AS bundle_manifest,
    '' AS bundle_signature_b64,
    etag,
    signed_at,
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
