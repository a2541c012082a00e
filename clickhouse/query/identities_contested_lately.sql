-- Identities that were filled in after a crash (writer 0) and that another writer has taken as well, with all times of
-- their events. Looks back as far as identities_fill does. stream: decisions or llm_invocations.
SELECT
    project_id,
    event_id,
    groupUniqArray(occurred_at) AS times
FROM event_identities
WHERE stream = {stream: String}
    AND (project_id, event_id) IN (
        SELECT project_id, event_id
        FROM event_identities
        WHERE stream = {stream: String}
            AND writer = 0
            AND received_at >= (
                SELECT max(received_at) - INTERVAL 1 HOUR
                FROM event_identities
                WHERE stream = {stream: String}
            )
    )
GROUP BY
    project_id,
    event_id
HAVING uniqExact(writer) > 1
