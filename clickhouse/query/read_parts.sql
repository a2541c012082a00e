-- The parts of an event table and their rows, by day of occurred_at. table: decisions or llm_invocations.
-- A row may occur twice if a day has several parts, or one that was not deduplicated (level 0).
SELECT
    partition AS day,
    count() > 1 OR min(level) = 0 AS may_repeat,
    arraySort(groupArray(name)) AS parts,
    sum(rows) AS number
FROM system.parts
WHERE database = currentDatabase()
    AND table = {table: String}
    AND active
GROUP BY day
