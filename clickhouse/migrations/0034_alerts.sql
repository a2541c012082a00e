-- The alerts of projects, and their settings, of which the newest row counts.
--
-- webhook_secret: signs the messages to the webhook (Standard Webhooks), so it cannot be stored as a hash.
CREATE TABLE IF NOT EXISTS alert_settings
(
    project_id String,
    denials UInt8,
    new_names UInt8,
    silence UInt8,
    muted_until DateTime64(3, 'UTC'),
    webhook_url String,
    webhook_secret String,
    changed_by String,
    changed_at DateTime64(3, 'UTC'),
    version UInt64
)
ENGINE = {engine: ReplacingMergeTree(version)}
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- alert_id is derived from the occasion of an alert, so that each is stored once. A second row with a higher version has its
-- final state. The times of a range are those of the records; for a silence, range_from is the last call.
CREATE TABLE IF NOT EXISTS alerts
(
    project_id String,
    fired_at DateTime64(3, 'UTC'),
    alert_id UUID,
    rule Enum8('denials' = 1, 'new_names' = 2, 'silence' = 3),
    agent_name String,
    tool_name String,
    range_from DateTime64(3, 'UTC'),
    range_to DateTime64(3, 'UTC'),
    total UInt64,
    denied UInt64,
    usual_total UInt64,
    usual_denied UInt64,
    state Enum8('pending' = 1, 'sent' = 2, 'muted' = 3, 'failed' = 4),
    version UInt64
)
ENGINE = {engine: ReplacingMergeTree(version)}
ORDER BY (project_id, fired_at, alert_id)
TTL toDateTime(fired_at) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- Which service evaluates the rules of a minute: the store keeps the first row with the token of the minute.
CREATE TABLE IF NOT EXISTS alert_rounds
(
    minute DateTime('UTC'),
    holder String
)
ENGINE = {engine: MergeTree}
ORDER BY (minute, holder)
TTL minute + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
