-- One version of one agent. project_id, agent_name; version: null means the latest.
-- If several rows have the same version number, the one created first counts, with its latest signature.
SELECT
    project_id,
    agent_name,
    version,
    created_at,
    agent_version_id,
    agent_id,
    created_by,
    tools,
    agent_yaml,
    policy_yaml,
    system_md,
    bundle_wasm_b64,
    bundle_manifest,
    bundle_signature_b64,
    etag,
    signed_at,
    note
FROM agent_versions
WHERE project_id = {project_id: String}
    AND agent_name = {agent_name: String}
    AND ({version: Nullable(UInt32)} IS NULL OR version = {version: Nullable(UInt32)}) -- optional: version
ORDER BY
    version DESC,
    created_at,
    agent_version_id,
    signed_at DESC
LIMIT 1
