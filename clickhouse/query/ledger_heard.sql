-- One row if a sender of this project reported its numbers in a window, else none. For most projects this is the only
-- query, and it costs little.
-- table: decisions or llm_invocations, which is also the stream; project_id; from_hour: the hour in which the window
-- begins; few_rows: see summary.sql.
SELECT 1 AS is_heard
FROM
(
    SELECT emitter
    FROM {table: Identifier}
    WHERE project_id = {project_id: String}
        AND emitter != toUUID('00000000-0000-0000-0000-000000000000')
        AND toStartOfHour(occurred_at) >= {from_hour: DateTime('UTC')}
    GROUP BY
        emitter,
        toStartOfHour(occurred_at)
    LIMIT 1
    UNION ALL
    SELECT emitter
    FROM emitter_closes
    WHERE project_id = {project_id: String}
        AND stream = {table: String}
        AND received_at >= {from_hour: DateTime('UTC')}
    LIMIT 1
)
LIMIT 1
SETTINGS optimize_use_projections = 0, max_threads = 1 -- optional: few_rows
