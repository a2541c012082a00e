-- The keys that sign the logs of this store, and what witnesses signed.
--
-- public_key: base64 of 32 bytes. The newest row counts. The first service that signs writes the first row, with a token, so that
-- only one of several services succeeds; the others refuse to sign with another key. An operator who changes the key adds a row.
CREATE TABLE IF NOT EXISTS log_keys
(
    accepted_at DateTime64(3, 'UTC'),
    public_key String
)
ENGINE = {engine: MergeTree}
ORDER BY accepted_at
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 100,
    replicated_deduplication_window = 100,
    replicated_deduplication_window_seconds = 604800;

-- size: of the checkpoint that was signed. witness: the name of its key. line: the signature as a line of the note, without newline.
CREATE TABLE IF NOT EXISTS log_cosignatures
(
    project_id LowCardinality(String),
    size UInt64,
    witness LowCardinality(String),
    cosigned_at DateTime64(3, 'UTC'),
    line String
)
ENGINE = {engine: ReplacingMergeTree}
ORDER BY (project_id, size, witness)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
