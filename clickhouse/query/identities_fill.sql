-- Adds identities of the event table that are missing in event_identities because of a crash before they were copied.
-- Looks for them only in slices of ten seconds in which the numbers of records and identities differ: comparing each
-- record takes ten times as long, and 300 bytes of memory. Compares received_at as well: another service may have taken
-- the same identity since, and both must show.
-- stream, table: decisions or llm_invocations, both the same name; since: earlier records have their identities;
-- alive_since: leaves out expired records.
-- Their identities are free again and may belong to newer records.
INSERT INTO event_identities (stream, project_id, event_id, occurred_at, received_at)
WITH (
    SELECT groupArray(slice)
    FROM (
        SELECT
            intDiv(toUnixTimestamp(received_at), 10) AS slice,
            count(),
            sum(cityHash64(project_id, event_id, received_at))
        FROM {table: Identifier}
        WHERE received_at >= {since: DateTime64(3, 'UTC')}
            AND occurred_at >= {alive_since: DateTime64(3, 'UTC')}
        GROUP BY slice
        EXCEPT
        SELECT
            intDiv(toUnixTimestamp(received_at), 10) AS slice,
            count(),
            sum(cityHash64(project_id, event_id, received_at))
        FROM event_identities
        WHERE stream = {stream: String}
            AND received_at >= {since: DateTime64(3, 'UTC')}
            AND occurred_at >= {alive_since: DateTime64(3, 'UTC')}
        GROUP BY slice
    )
) AS slices
SELECT
    {stream: String},
    project_id,
    event_id,
    occurred_at,
    received_at
FROM {table: Identifier}
WHERE received_at >= {since: DateTime64(3, 'UTC')}
    AND occurred_at >= {alive_since: DateTime64(3, 'UTC')}
    AND intDiv(toUnixTimestamp(received_at), 10) IN slices
    AND (project_id, event_id, received_at) NOT IN (
        SELECT project_id, event_id, received_at
        FROM event_identities
        WHERE stream = {stream: String}
            AND received_at >= {since: DateTime64(3, 'UTC')}
            AND intDiv(toUnixTimestamp(received_at), 10) IN slices
    )
