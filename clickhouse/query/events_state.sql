-- The state of the tables of events and identities: the number of the newest block of each partition. Only writes
-- change it, not merges, mutations or the expiry of rows. A restored or new table has another folder.
SELECT
    concat(table, ' ', extract(path, '/store/[^/]+/([^/]+)/[^/]+/$'), ' ', partition_id) AS place,
    toString(max(max_block_number)) AS newest
FROM system.parts
WHERE database = currentDatabase()
    AND table IN ('decisions', 'llm_invocations', 'event_identities')
    AND active
GROUP BY place
ORDER BY place
