-- Writes a range of rounds of the logs into a file: one JSON array per piece, in the order of each log, with its
-- entries as hex digits. Leaves out which process wrote the rounds, and when, because that concerns this store only.
-- path: ends in .gz; range: of 100,000 rounds.
-- The blocks are small, because a piece may have 130 KB of digits.
INSERT INTO FUNCTION file({path: String}, 'JSONCompactEachRow')
SETTINGS engine_file_truncate_on_insert = 1, max_block_size = 256
SELECT
    project_id,
    start,
    arrayStringConcat(arrayMap(entry -> hex(entry), entries), ' ') AS entries_hex,
    received_from,
    received_to
FROM log_chunks
WHERE intDiv(round, 100000) = {range: UInt64}
    AND project_id != ''
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
ORDER BY
    project_id,
    start
