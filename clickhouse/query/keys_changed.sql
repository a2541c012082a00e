-- One page of the bearer keys issued or revoked since a time, by id. A revoked key may occur twice: as revoked, then as
-- issued.
-- since: compared with updated_at; after: the last key of the previous page, '' for the first page; limit.
SELECT
    key_id,
    project_id,
    revoked_at,
    updated_at
FROM api_keys
WHERE key_id > {after: String}
    AND updated_at >= {since: DateTime64(3, 'UTC')}
ORDER BY
    key_id,
    version DESC
LIMIT {limit: UInt32}
