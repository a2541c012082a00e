-- The identities of one project between two event_ids, both included, in no order, as raw UUIDs. Those that have expired are few,
-- and to leave them out would take as long again. after_block: only from parts with later blocks (the third number in a part's name);
-- null for all. One thread: the caller works through one page while it reads the next.
SELECT event_id
FROM event_identities
WHERE stream = {stream: String}
    AND project_id = {project_id: String}
    AND event_id >= {from: UUID}
    AND event_id <= {to: UUID}
    AND ({after_block: Nullable(UInt64)} IS NULL OR toUInt64(splitByChar('_', _part)[3]) > {after_block: Nullable(UInt64)}) -- optional: after_block
SETTINGS max_threads = 1
FORMAT RowBinary
