-- Every version of every agent, with its bundle as it was signed. Rows are written once and never changed. Each version
-- number has its own insert token: if two processes save at the same time, the store keeps the first insert.

CREATE TABLE IF NOT EXISTS agent_versions
(
    project_id String,
    agent_name String,
    version UInt32,
    created_at DateTime64(3, 'UTC'),
    agent_version_id String,
    agent_id String,
    created_by String,
    tools String CODEC(ZSTD(1)),
    agent_yaml String CODEC(ZSTD(1)),
    policy_yaml String CODEC(ZSTD(1)),
    system_md String CODEC(ZSTD(1)),
    bundle_wasm_b64 String CODEC(ZSTD(1)),
    bundle_manifest String CODEC(ZSTD(1)),
    bundle_signature_b64 String,
    etag String
)
ENGINE = {engine: MergeTree}
ORDER BY (project_id, agent_name, version, created_at, agent_version_id)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 10000
