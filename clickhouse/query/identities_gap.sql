-- Whether identities may be gone with a part that has no directory any more: numbers are missing between the blocks of event_identities,
-- or none of a record's age are left. An insert that failed leaves the same trace. The newest blocks are not missed.
SELECT max(max_block_number) - min(min_block_number) + 1 != sum(max_block_number - min_block_number + 1)
    OR EXISTS
    (
        SELECT 1
        FROM decisions
        WHERE occurred_at > now() - INTERVAL 90 DAY
            AND received_at < ifNull((SELECT minOrNull(received_at) FROM event_identities), now())
    ) AS has_gap
FROM system.parts
WHERE database = currentDatabase()
    AND table = 'event_identities'
    AND active
