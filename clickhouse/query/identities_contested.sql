-- Which of these identities have at least writers_min writers, with all known times of their events.
-- The caller matches the pairs, as in identities_known.
-- stream; project_ids, event_ids: the identities; writers_min: 1 for all of them.
SELECT
    project_id,
    event_id,
    groupUniqArray(occurred_at) AS times
FROM event_identities
WHERE stream = {stream: String}
    AND project_id IN {project_ids: Array(String)}
    AND event_id IN {event_ids: Array(UUID)}
GROUP BY
    project_id,
    event_id
HAVING uniqExact(writer) >= {writers_min: UInt8}
