-- Which of these events are in the event table, after an insert of unknown outcome.
-- table: decisions or llm_invocations; from, to: the range of their occurred_at, which bounds the partitions read.
SELECT DISTINCT
    project_id,
    event_id
FROM {table: Identifier}
WHERE project_id IN {project_ids: Array(String)}
    AND event_id IN {event_ids: Array(UUID)}
    AND occurred_at >= {from: DateTime64(3, 'UTC')}
    AND occurred_at <= {to: DateTime64(3, 'UTC')}
