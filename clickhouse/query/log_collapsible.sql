-- Of the identities of these inserts, those that another insert has with the same sorting key: a merge keeps one of these rows, so the
-- log must know them all. The other insert may have no mark, because its process ended before it wrote one. flushes.
SELECT
    project_id,
    event_id,
    groupUniqArray(occurred_at) AS times
FROM decisions
WHERE (project_id, agent_name, outcome, occurred_at, event_id) IN (
        SELECT project_id, agent_name, outcome, occurred_at, event_id
        FROM decisions
        WHERE flush IN arrayMap(number -> toUInt64(number), {flushes: Array(String)})
    )
GROUP BY
    project_id,
    event_id
HAVING uniqExact(flush) > 1
