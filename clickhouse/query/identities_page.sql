-- The identities of one project between two event_ids, both included, in no order, as raw UUIDs. Includes expired ones:
-- they are few, and leaving them out would take twice as long.
-- after_block: only from parts with later blocks (the third number in a part's name); null for all.
-- Uses one thread, because the caller works through one page while it reads the next.
SELECT event_id
FROM event_identities
WHERE stream = {stream: String}
    AND project_id = {project_id: String}
    AND event_id >= {from: UUID}
    AND event_id <= {to: UUID}
    AND ({after_block: Nullable(UInt64)} IS NULL OR toUInt64(splitByChar('_', _part)[3]) > {after_block: Nullable(UInt64)}) -- optional: after_block
SETTINGS max_threads = 1
FORMAT RowBinary
