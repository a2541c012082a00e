-- When the newest record that has its identity was received, in milliseconds; 0 if there is none.
-- stream: decisions or llm_invocations.
-- part_rows_max: reads only parts with fewer rows; null for all.
-- The latest identities are in small parts, and reading all 100 million takes seconds.
SELECT toUnixTimestamp64Milli(max(received_at)) AS newest
FROM event_identities
WHERE stream = {stream: String}
    AND ({part_rows_max: Nullable(UInt64)} IS NULL OR _part IN (SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'event_identities' AND active AND rows < {part_rows_max: Nullable(UInt64)})) -- optional: part_rows_max
