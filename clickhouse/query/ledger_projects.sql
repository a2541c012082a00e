-- The projects whose senders reported their numbers since a given hour.
-- table: decisions or llm_invocations, which is also the stream; from_hour: that hour.
SELECT DISTINCT project_id
FROM
(
    SELECT project_id
    FROM {table: Identifier}
    WHERE emitter != toUUID('00000000-0000-0000-0000-000000000000')
        AND toStartOfHour(occurred_at) >= {from_hour: DateTime('UTC')}
    GROUP BY
        project_id,
        emitter,
        toStartOfHour(occurred_at)
    UNION ALL
    SELECT project_id
    FROM emitter_closes
    WHERE stream = {table: String}
        AND received_at >= {from_hour: DateTime('UTC')}
)
