-- The columns of a table in the order of export_table and export_day.
-- table.
SELECT name
FROM system.columns
WHERE database = currentDatabase()
    AND table = {table: String}
    AND name != 'flush'
    AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
ORDER BY position
