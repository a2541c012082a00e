-- Identities of two writers whose conflict may not be resolved, with all times of their events: those filled in after a
-- crash (writer 0), as far back as identities_fill looks, and those of the last minutes, whose writer may have ended
-- before it looked for others.
-- stream: decisions or llm_invocations.
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
            AND received_at >= (
                SELECT max(received_at) - INTERVAL 1 HOUR
                FROM event_identities
                WHERE stream = {stream: String}
            )
            AND (
                writer = 0
                OR received_at >= (
                    SELECT max(received_at) - INTERVAL 5 MINUTE
                    FROM event_identities
                    WHERE stream = {stream: String}
                )
            )
    )
GROUP BY
    project_id,
    event_id
HAVING uniqExact(writer) > 1
