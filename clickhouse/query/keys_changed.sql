-- Bearer keys issued or revoked since a time, each as it stands now.
-- since: compared with updated_at; a key's newest row has the highest version.
SELECT
    key_id,
    project_id,
    name,
    scope,
    agents,
    created_by,
    created_at,
    expires_at,
    revoked_at,
    updated_at
FROM api_keys
FINAL
WHERE key_id IN (
    SELECT key_id
    FROM api_keys
    WHERE updated_at >= {since: DateTime64(3, 'UTC')}
)
