-- What the senders of events report about their own counts; see docs/storage.md.
--
-- emitter_closes: the reports of senders that ended. The first report of a sender counts.
-- emitter_starts: senders with records that are about to expire or have expired, so that a first number that is missing later
-- counts as expired and not as lost. occurred_at: of the newest of these records; sequence: the lowest of their numbers.
CREATE TABLE IF NOT EXISTS emitter_closes
(
    project_id LowCardinality(String),
    stream Enum8('decisions' = 1, 'llm_invocations' = 2),
    emitter UUID,
    received_at DateTime64(3, 'UTC'),
    emitted UInt64,
    dropped UInt64,
    failed UInt64
)
ENGINE = {engine: MergeTree}
ORDER BY (project_id, stream, emitter, received_at)
TTL toDateTime(received_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS emitter_starts
(
    project_id LowCardinality(String),
    stream Enum8('decisions' = 1, 'llm_invocations' = 2),
    emitter UUID,
    occurred_at DateTime64(3, 'UTC'),
    sequence UInt64
)
ENGINE = {engine: ReplacingMergeTree}
ORDER BY (project_id, stream, emitter, occurred_at)
TTL toDateTime(occurred_at) + INTERVAL 365 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- An hour of a sender. If its numbers have no gap, and no window begins in the hour, none of its rows is read.
ALTER TABLE decisions ADD PROJECTION IF NOT EXISTS by_emitter
(
    SELECT
        project_id,
        emitter,
        toStartOfHour(occurred_at),
        count(),
        sum(sequence),
        sum(toUInt128(sequence) * sequence),
        min(sequence),
        max(sequence),
        max(received_at),
        argMin(ifNull(dropped, 0), sequence),
        argMin(received_at, sequence),
        argMax(received_at, sequence),
        argMin(agent_name, sequence),
        argMax(agent_name, sequence)
    GROUP BY
        project_id,
        emitter,
        toStartOfHour(occurred_at)
);

ALTER TABLE llm_invocations ADD PROJECTION IF NOT EXISTS by_emitter
(
    SELECT
        project_id,
        emitter,
        toStartOfHour(occurred_at),
        count(),
        sum(sequence),
        sum(toUInt128(sequence) * sequence),
        min(sequence),
        max(sequence),
        max(received_at),
        argMin(ifNull(dropped, 0), sequence),
        argMin(received_at, sequence),
        argMax(received_at, sequence),
        argMin(agent_name, sequence),
        argMax(agent_name, sequence)
    GROUP BY
        project_id,
        emitter,
        toStartOfHour(occurred_at)
)
