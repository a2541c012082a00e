-- Writes one day of an event table into a file, as the reads would show it, one JSON array per line. The engine writes
-- the file, so the rows never pass through the memory of the caller. path: ends in .gz; table; day: of occurred_at.
-- flush names an insert of this store: the import gives rows another.
INSERT INTO FUNCTION file({path: String}, 'JSONCompactEachRow')
SETTINGS engine_file_truncate_on_insert = 1
SELECT * EXCEPT (flush)
FROM {table: Identifier} FINAL
WHERE toDate(occurred_at) = {day: Date}
