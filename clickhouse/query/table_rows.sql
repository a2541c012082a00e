-- Every row of a small table, a JSON array a line. table.
SELECT *
FROM {table: Identifier}
FORMAT JSONCompactEachRow
