-- Writes one day of an event table into a file, as the reads would show it, a JSON array a line. The engine writes by
-- itself: nothing of it passes through the caller's memory. path: ends in .gz; table; day: of occurred_at.
INSERT INTO FUNCTION file({path: String}, 'JSONCompactEachRow')
SETTINGS engine_file_truncate_on_insert = 1
SELECT *
FROM {table: Identifier} FINAL
WHERE toDate(occurred_at) = {day: Date}
