-- Projects and the bearer keys issued for them. A second row with a higher version revokes a key: rows are never changed
-- in place. The key itself is not stored, only the data that its signature covers.

CREATE TABLE IF NOT EXISTS projects
(
    project_id String,
    name String,
    created_at DateTime64(3, 'UTC')
)
ENGINE = {engine: ReplacingMergeTree}
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS api_keys
(
    key_id String,
    project_id String,
    name String,
    scope String,
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    updated_at DateTime64(3, 'UTC'),
    version UInt64
)
ENGINE = {engine: ReplacingMergeTree(version)}
ORDER BY key_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
