-- The identities of these inserts that another insert has under the same sorting key. A merge keeps one of these rows,
-- so the log must know all of them. The other insert may have no mark, because its process ended before it wrote one.
-- flushes.
-- An insert that began at least 10 minutes earlier has been marked by a scan or by the next start.
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
