-- The latest version of each agent of a project, by name, without its texts and its module. A page has at most
-- page_rows agents after `after`. It ends after the agent whose tools bring it to page_bytes.
-- project_id; after; page_rows; page_bytes.
-- If several rows have the same version number, the one created first counts, with its latest signature. PREWHERE
-- avoids reading the tools of older versions and of other pages, which are up to 1 MB each.
SELECT * EXCEPT bytes_before
FROM
(
    SELECT
        *,
        sum(length(tools)) OVER (ORDER BY agent_name ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
    FROM
    (
        SELECT
            agent_name,
            version,
            created_at,
            agent_version_id,
            agent_id,
            created_by,
            tools,
            bundle_signature_b64,
            etag,
            note
        FROM agent_versions
        PREWHERE project_id = {project_id: String}
            AND (agent_name, version) IN (
                SELECT agent_name, max(version)
                FROM agent_versions
                WHERE project_id = {project_id: String}
                    AND agent_name > {after: String}
                GROUP BY agent_name
                ORDER BY agent_name
                LIMIT {page_rows: UInt32}
            )
        ORDER BY
            agent_name,
            created_at,
            agent_version_id,
            signed_at DESC
        LIMIT 1 BY agent_name
    )
)
WHERE bytes_before < {page_bytes: UInt32}
ORDER BY agent_name
