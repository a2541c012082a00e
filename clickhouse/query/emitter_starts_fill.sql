-- Stores which senders have records on days that are about to expire; see emitter_starts in 0032_ledger.sql. A repeated
-- run for a day writes the same rows, which merge.
-- table: decisions or llm_invocations, which is also the stream; first_day, last_day: the days.
INSERT INTO emitter_starts (project_id, stream, emitter, occurred_at, sequence)
SELECT
    project_id,
    {table: String},
    emitter,
    max(occurred_at),
    min(sequence)
FROM {table: Identifier}
WHERE emitter != toUUID('00000000-0000-0000-0000-000000000000')
    AND toDate(occurred_at) >= {first_day: Date}
    AND toDate(occurred_at) <= {last_day: Date}
GROUP BY
    project_id,
    emitter,
    toDate(occurred_at)
