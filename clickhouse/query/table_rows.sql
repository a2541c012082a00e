-- Every row of a small table, one JSON array per line. table.
SELECT *
FROM {table: Identifier}
FORMAT JSONCompactEachRow
