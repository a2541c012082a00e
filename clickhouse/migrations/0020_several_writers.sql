-- Lets several services write to one store.
--
-- writer: the process that wrote the identity, 0 for a sole writer. It is part of the sorting key, so that a merge keeps
-- the rows of two writers.
ALTER TABLE event_identities
    ADD COLUMN IF NOT EXISTS writer UInt64 CODEC(ZSTD(1)),
    MODIFY ORDER BY (stream, project_id, event_id, writer)
