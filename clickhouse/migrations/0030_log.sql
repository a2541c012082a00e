-- The log, which proves that no record was lost, altered, added or removed. docs/storage.md describes how it is written.
--
-- salt: 16 random bytes, zeros in rows from before the log. flush: the insert and the process that wrote the row, so that the log
-- finds new rows; microseconds since the epoch × 4096 + a number of the process, 0 in rows from before the log.
-- emitter, sequence, dropped: the sender's own count; sequence 0 where there is none, dropped NULL where it is absent or invalid.
-- line: the record as a line of the NDJSON export. It needs output_format_json_escape_forward_slashes = 0.
-- entry: the hash of salt and line, which is in the log.
ALTER TABLE decisions
    ADD COLUMN IF NOT EXISTS salt UUID CODEC(NONE),
    ADD COLUMN IF NOT EXISTS emitter UUID CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS sequence UInt64 CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS dropped Nullable(UInt64) CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS flush UInt64 CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS line String ALIAS concat(
        '{"event_id":"', toString(event_id), '"',
        ',"occurred_at":"', replaceOne(toString(occurred_at), ' ', 'T'), 'Z"',
        ',"agent_name":', toJSONString(agent_name),
        ',"tool_name":', toJSONString(tool_name),
        ',"outcome":"', toString(outcome), '"',
        ',"role":', toJSONString(role),
        ',"error_type":', toJSONString(error_type),
        ',"reason":', toJSONString(reason),
        ',"violations":', toJSONString(violations),
        ',"hint":', if(hint = '', 'null', hint),
        ',"arguments":', if(arguments = '', 'null', arguments),
        ',"user_id":', toJSONString(user_id),
        ',"session_id":', toJSONString(session_id),
        ',"project_id":', toJSONString(project_id),
        ',"agent_version_id":', toJSONString(agent_version_id),
        ',"received_at":"', replaceOne(toString(received_at), ' ', 'T'), 'Z"}'
    ),
    ADD COLUMN IF NOT EXISTS entry FixedString(32) ALIAS SHA256(concat(UUIDToNum(salt), line)),
    ADD INDEX IF NOT EXISTS of_flush flush TYPE minmax GRANULARITY 1;

ALTER TABLE llm_invocations
    ADD COLUMN IF NOT EXISTS emitter UUID CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS sequence UInt64 CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS dropped Nullable(UInt64) CODEC(LZ4);

-- The entries of the log, in pieces. A round appends one or more pieces to the logs of some projects, in one insert with a token
-- of the round. The store keeps the first insert with a token, so the process that wrote the round first has it. committed_at is
-- the time of the store at the insert, proposed_at its time when the round began. A piece that was inserted 5 minutes or more
-- after its round began does not count, because the store may have forgotten the token by then.
--
-- entries: from the index start on; written as entries_hex, with spaces between, because rows are written as JSON. received_from, received_to: of their records, so that a record is found.
-- flushes: the flushes that are complete in the log with this round, in its first row; project_id is '' in a row for them alone.
-- A partition has a million rounds: whole rounds, so that each is one block, and the newest is known without reading a row.
CREATE TABLE IF NOT EXISTS log_chunks
(
    project_id LowCardinality(String),
    start UInt64 CODEC(Delta, ZSTD(1)),
    round UInt64 CODEC(Delta, ZSTD(1)),
    proposal UInt64 CODEC(NONE),
    entries_hex String EPHEMERAL,
    entries Array(FixedString(32)) DEFAULT arrayMap(digits -> toFixedString(unhex(digits), 32), arrayFilter(digits -> notEmpty(digits), splitByChar(' ', entries_hex))) CODEC(NONE),
    received_from DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    received_to DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    flushes Array(UInt64) CODEC(ZSTD(1)),
    proposed_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    committed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    INDEX of_round round TYPE minmax GRANULARITY 1,
    INDEX of_received_from received_from TYPE minmax GRANULARITY 1,
    INDEX of_received_to received_to TYPE minmax GRANULARITY 1
)
ENGINE = {engine: MergeTree}
PARTITION BY intDiv(round, 1000000)
ORDER BY (project_id, start, round)
SETTINGS
    index_granularity = 256,
    index_granularity_bytes = 1048576,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    min_parts_to_merge_at_once = 16,
    non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800;

-- Hashes of complete subtrees of the logs: of level 1 over 256 leaves, of level 2 over 256 of level 1, and so on. They follow from
-- the entries, so two rows of the same hash are equal.
CREATE TABLE IF NOT EXISTS log_hashes
(
    project_id LowCardinality(String),
    level UInt8,
    idx UInt64 CODEC(Delta, ZSTD(1)),
    hash FixedString(32) CODEC(NONE)
)
ENGINE = {engine: ReplacingMergeTree}
ORDER BY (project_id, level, idx)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
