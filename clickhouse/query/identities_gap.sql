-- Whether numbers are missing among the blocks of event_identities: the directory of a part is gone, or an insert has failed, or all
-- rows of a part have expired. The newest blocks are not missed.
SELECT max(max_block_number) != sum(max_block_number - min_block_number + 1) AS has_gap
FROM system.parts
WHERE database = currentDatabase()
    AND table = 'event_identities'
    AND active
