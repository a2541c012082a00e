-- Of the identities of these inserts, those that another insert has with the same sorting key: a merge keeps one of these rows, so the
-- log must know them all. The other insert may have no mark, because its process ended before it wrote one. flushes.
-- One that began 10 minutes earlier is marked by now: by who scans for it, or by the next start.
SELECT
    project_id,
    event_id,
    groupUniqArray(occurred_at) AS times
FROM decisions
WHERE (project_id, agent_name, outcome, occurred_at, event_id) IN (
        SELECT project_id, agent_name, outcome, occurred_at, event_id
        FROM decisions
        WHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
    )
    AND flush >= (SELECT arrayMin(number -> toUInt64(number), {flushes: Array(String)})) - 600000000 * 4096
GROUP BY
    project_id,
    event_id
HAVING uniqExact(flush) > 1
