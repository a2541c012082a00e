-- Adds to event_identities what is in the event table and not there yet: rows whose identity was not copied before
-- a crash. received_at is compared, too: after the crash another service may have taken the same identity, and somebody
-- must see that there are two. Looks back an hour from the newest identity; the copy follows the event within seconds.
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
