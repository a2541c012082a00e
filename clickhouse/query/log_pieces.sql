-- The entries of records that may enter the log, in pieces of at most 2,048, per project in the order in which they
-- were received.
-- flushes: of their inserts; hour: of occurred_at, for rows from before the log, whose flushes is ['0']; since: no
-- earlier rows.
-- out_project_ids, out_event_ids, out_versions: rows that lost a conflict.
-- A row may occur twice, byte for byte, until a merge. PREWHERE reads the other columns for these inserts only.
-- `entry` is computed in a single subquery, so that it is planned once.
-- overlap_from, overlap_to: when the records were received, to leave out those that are in the log.
SELECT
    project_id,
    arrayStringConcat(arrayMap(record -> hex(record.3), piece), ' ') AS entries,
    toUInt32(length(piece)) AS count,
    toString(piece[1].1) AS received_from,
    toString(piece[-1].1) AS received_to
FROM
(
    SELECT
        project_id,
        arrayCompact(arraySort(groupArray(record))) AS records,
        arrayJoin(arraySplit((record, place) -> place % 2048 = 1, records, arrayEnumerate(records))) AS piece
    FROM
    (
        SELECT
            project_id,
            (received_at, event_id, entry) AS record
        FROM decisions
        PREWHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
        WHERE occurred_at >= {since: DateTime64(3, 'UTC')}
            AND ({hour: Nullable(DateTime('UTC'))} IS NULL OR (occurred_at >= {hour: Nullable(DateTime('UTC'))} AND occurred_at < {hour: Nullable(DateTime('UTC'))} + INTERVAL 1 HOUR)) -- optional: hour
            AND (project_id, event_id, version) NOT IN (SELECT arrayJoin(arrayZip({out_project_ids: Array(String)}, {out_event_ids: Array(UUID)}, arrayMap(number -> toUInt64(number), {out_versions: Array(String)})))) -- optional: out_project_ids
            AND ({overlap_from: Nullable(DateTime64(3, 'UTC'))} IS NULL OR entry NOT IN (SELECT arrayJoin(entries) FROM log_chunks WHERE received_from <= {overlap_to: Nullable(DateTime64(3, 'UTC'))} AND received_to >= {overlap_from: Nullable(DateTime64(3, 'UTC'))} AND committed_at < proposed_at + INTERVAL 5 MINUTE)) -- optional: overlap_from
    )
    GROUP BY project_id
)
ORDER BY
    project_id,
    received_from
SETTINGS output_format_json_escape_forward_slashes = 0, optimize_use_projections = 0
