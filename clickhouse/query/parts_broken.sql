-- Parts of tables that were damaged when the engine opened the store. It has moved them aside, and reads the table without them.
SELECT
    table,
    name
FROM system.detached_parts
WHERE database = currentDatabase()
    AND startsWith(reason, 'broken')
ORDER BY
    table,
    name
