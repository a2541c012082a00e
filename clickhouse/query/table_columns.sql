-- The columns of a table, as export_table and export_day have them. table.
SELECT name
FROM system.columns
WHERE database = currentDatabase()
    AND table = {table: String}
    AND name != 'flush'
    AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
ORDER BY position
