-- Adds identities of the event table that are missing in event_identities, because a crash came before they were copied.
-- Compares received_at, too: another service may have taken the same identity since, and both must show.
-- Looks back an hour from the newest identity; normally an identity follows its event within seconds.
-- stream, table: decisions or llm_invocations, both the same name.
INSERT INTO event_identities (stream, project_id, event_id, occurred_at, received_at)
SELECT
    {stream: String},
    project_id,
    event_id,
    occurred_at,
    received_at
FROM {table: Identifier}
WHERE received_at >= (
        SELECT max(received_at) - INTERVAL 1 HOUR
        FROM event_identities
        WHERE stream = {stream: String}
    )
    AND (project_id, event_id, received_at) NOT IN (
        SELECT project_id, event_id, received_at
        FROM event_identities
        WHERE stream = {stream: String}
            AND received_at >= (
                SELECT max(received_at) - INTERVAL 1 HOUR
                FROM event_identities
                WHERE stream = {stream: String}
            )
    )
