-- The columns of a table, as SELECT * has them. table.
SELECT name
FROM system.columns
WHERE database = currentDatabase()
    AND table = {table: String}
    AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
ORDER BY position
