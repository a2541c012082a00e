-- What it takes for several services to write to one store.
--
-- writer: which process wrote the identity, 0 for the only one there is. It belongs to the sorting key, so that two rows
-- of one identity stay two until somebody has seen that there were two writers.
ALTER TABLE event_identities
    ADD COLUMN IF NOT EXISTS writer UInt64 CODEC(ZSTD(1)),
    MODIFY ORDER BY (stream, project_id, event_id, writer)
