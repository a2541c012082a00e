-- When the newest record was received that has its identity, in milliseconds; 0 without one. stream: decisions or llm_invocations.
-- part_rows_max: only in parts of fewer rows, null for all. The latest are in small parts, and to read all takes seconds with 100 million.
SELECT toUnixTimestamp64Milli(max(received_at)) AS newest
FROM event_identities
WHERE stream = {stream: String}
    AND ({part_rows_max: Nullable(UInt64)} IS NULL OR _part IN (SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'event_identities' AND active AND rows < {part_rows_max: Nullable(UInt64)})) -- optional: part_rows_max
