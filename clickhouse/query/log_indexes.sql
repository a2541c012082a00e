-- The indexes of many entries: entry (in hex) and index for each that is in the log.
-- project_id; entries: concatenated, in upper-case hex; received_from, received_to: of their records; minutes: those in
-- which the records were received, so that few pieces are read if the records are far apart.
SELECT
    hex(found.1) AS entry,
    found.2 AS index
FROM
(
    SELECT arrayJoin(arrayZip(entries, range(start, start + length(entries)))) AS found
    FROM log_chunks
    WHERE project_id = {project_id: String}
        AND received_from <= {received_to: DateTime64(3, 'UTC')}
        AND received_to >= {received_from: DateTime64(3, 'UTC')}
        AND arrayExists(
            minute -> received_from < minute + INTERVAL 1 MINUTE AND received_to >= minute,
            {minutes: Array(DateTime64(3, 'UTC'))}
        )
        AND committed_at < proposed_at + INTERVAL 5 MINUTE
)
WHERE found.1 IN (SELECT toFixedString(unhex(arrayJoin(extractAll({entries: String}, '.{64}'))), 32))
