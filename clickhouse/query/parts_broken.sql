-- Parts of tables that were damaged when the engine opened the store. It has moved them aside, and reads the table without them.
-- Not those of schema_migrations: its merges are not synced, and a migration may run again.
SELECT
    table,
    name
FROM system.detached_parts
WHERE database = currentDatabase()
    AND startsWith(reason, 'broken')
    AND table != 'schema_migrations'
ORDER BY
    table,
    name
