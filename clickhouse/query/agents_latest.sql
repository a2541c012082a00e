-- The latest version of every agent. If several rows have the same version number, the one created first counts.
SELECT
    project_id,
    agent_name,
    argMin(agent_version_id, (created_at, agent_version_id)) AS agent_version_id,
    version
FROM agent_versions
GROUP BY
    project_id,
    agent_name,
    version
ORDER BY version DESC
LIMIT 1 BY
    project_id,
    agent_name
