-- The first event_id of every page_granules-th granule, for each project in its order, with the number of granules.
-- Comes from the primary index in memory.
-- stream: decisions or llm_invocations; page_granules: granules between two bounds; only_project: null for all;
-- after_block: see identities_page.
SELECT
    project_id,
    event_id,
    granules
FROM
(
    SELECT
        project_id,
        event_id,
        row_number() OVER (PARTITION BY project_id ORDER BY event_id) AS place,
        count() OVER () AS granules
    FROM mergeTreeIndex(currentDatabase(), 'event_identities')
    WHERE stream = {stream: String}
        AND ({only_project: Nullable(String)} IS NULL OR project_id = {only_project: Nullable(String)}) -- optional: only_project
        AND ({after_block: Nullable(UInt64)} IS NULL OR toUInt64(splitByChar('_', part_name)[3]) > {after_block: Nullable(UInt64)}) -- optional: after_block
)
WHERE place % {page_granules: UInt32} = 0
ORDER BY
    project_id,
    event_id
