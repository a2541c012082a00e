-- The parts of an event table, by day of occurred_at. table: decisions or llm_invocations.
-- More than one part, or one that no merge and no insert has made unique (level 0): a row may be there twice.
SELECT
    partition AS day,
    count() > 1 OR min(level) = 0 AS may_repeat,
    arraySort(groupArray(name)) AS parts
FROM system.parts
WHERE database = currentDatabase()
    AND table = {table: String}
    AND active
GROUP BY day
