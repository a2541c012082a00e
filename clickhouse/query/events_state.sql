-- What a write to the events or their identities changes: the number of the newest block of each partition. A merge, a
-- mutation and the expiry of rows leave it as it is; a restored or new table has another folder.
SELECT
    concat(table, ' ', extract(path, '/store/[^/]+/([^/]+)/[^/]+/$'), ' ', partition_id) AS place,
    toString(max(max_block_number)) AS newest
FROM system.parts
WHERE database = currentDatabase()
    AND table IN ('decisions', 'llm_invocations', 'event_identities')
    AND active
GROUP BY place
ORDER BY place
