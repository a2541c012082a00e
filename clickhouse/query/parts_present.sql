-- Parts of tables. first, last: their blocks; expires: when all of their rows have expired, 0 for never.
SELECT
    table,
    name,
    partition_id,
    toInt32(min_block_number) AS first,
    toInt32(max_block_number) AS last,
    toUInt32(delete_ttl_info_max) AS expires
FROM system.parts
WHERE database = currentDatabase()
    AND active
    AND rows > 0
    AND table != 'schema_migrations'
