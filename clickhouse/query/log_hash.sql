-- Writes the hashes of complete subtrees of a level: the node hash of RFC 6962, in eight steps from 256 nodes to one.
-- project_id; level; from, to: positions in the level, to exclusive; leaves: 1 for level 1, else null; below: the level
-- below, null for level 1.
INSERT INTO log_hashes (project_id, level, idx, hash)
SELECT
    {project_id: String},
    {level: UInt8},
    place,
    arrayFold(
        (nodes, step) -> arrayMap((left, right) -> SHA256(concat('\x01', left, right)), arrayFilter((node, at) -> at % 2 = 1, nodes, arrayEnumerate(nodes)), arrayFilter((node, at) -> at % 2 = 0, nodes, arrayEnumerate(nodes))),
        range(8),
        leaves
    )[1]
FROM
(
    SELECT
        place,
        arrayMap(pair -> pair.2, arraySort(groupArray((node_at, node)))) AS leaves
    FROM
    (
        SELECT
            toUInt64(0) AS node_at,
            toFixedString('', 32) AS node,
            toUInt64(0) AS place
        WHERE 0
        UNION ALL SELECT toUInt64(start + at - 1) AS node_at, SHA256(concat('\0', entry)) AS node, toUInt64(intDiv(node_at, 256)) AS place FROM log_chunks ARRAY JOIN entries AS entry, arrayEnumerate(entries) AS at WHERE project_id = {project_id: String} AND start < {to: UInt64} * 256 AND start >= if({from: UInt64} < 8, 0, {from: UInt64} - 8) * 256 AND node_at >= {from: UInt64} * 256 AND node_at < {to: UInt64} * 256 AND committed_at < proposed_at + INTERVAL 5 MINUTE AND {leaves: Nullable(UInt8)} -- optional: leaves
        UNION ALL SELECT idx AS node_at, any(hash) AS node, toUInt64(intDiv(idx, 256)) AS place FROM log_hashes WHERE project_id = {project_id: String} AND level = {below: Nullable(UInt8)} AND idx >= {from: UInt64} * 256 AND idx < {to: UInt64} * 256 GROUP BY idx -- optional: below
    )
    GROUP BY place
    HAVING length(leaves) = 256
)
