-- Appends the records of some inserts to the logs of their projects, in one round. The pieces are those of
-- log_pieces.sql, but they do not leave the engine. Only for a process that has the store to itself, and for inserts
-- none of whose rows are in the log.
-- flushes: the inserts, complete with this round; since: no earlier rows; round, proposal, proposed_at: see
-- 0030_log.sql; projects, sizes: the sizes of their logs before this round, including projects without a record.
INSERT INTO log_chunks (round, proposal, proposed_at, project_id, start, entries, received_from, received_to, flushes)
SELECT
    {round: UInt64},
    {proposal: UInt64},
    {proposed_at: DateTime64(6, 'UTC')},
    project_id,
    toUInt64(transform(project_id, {projects: Array(String)}, {sizes: Array(String)}, '')) + 2048 * (place - 1),
    arrayMap(record -> record.3, piece),
    piece[1].1,
    piece[-1].1,
    if(project_id = min(project_id) OVER () AND place = 1, arrayMap(number -> toUInt64(number), {flushes: Array(String)}), [])
FROM
(
    SELECT
        project_id,
        arrayCompact(arraySort(groupArray(record))) AS records,
        arraySplit((record, at) -> at % 2048 = 1, records, arrayEnumerate(records)) AS pieces
    FROM
    (
        SELECT
            project_id,
            (received_at, event_id, entry) AS record
        FROM decisions
        PREWHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
        WHERE occurred_at >= {since: DateTime64(3, 'UTC')}
    )
    GROUP BY project_id
)
ARRAY JOIN
    pieces AS piece,
    arrayEnumerate(pieces) AS place
SETTINGS output_format_json_escape_forward_slashes = 0, optimize_use_projections = 0
