-- Writes a whole table into a file, one JSON array per line. path: ends in .gz; table.
INSERT INTO FUNCTION file({path: String}, 'JSONCompactEachRow')
SETTINGS engine_file_truncate_on_insert = 1
SELECT *
FROM {table: Identifier}
