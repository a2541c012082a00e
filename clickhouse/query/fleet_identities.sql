-- Tells the index of identities of one day of rows that did not come through the service, so that a re-post of one of
-- them is known for what it is. stream, table: decisions or llm_invocations, both the same name; project_id, day.
INSERT INTO event_identities (stream, project_id, event_id, occurred_at, received_at)
SELECT
    {stream: String},
    project_id,
    event_id,
    occurred_at,
    received_at
FROM {table: Identifier}
WHERE project_id = {project_id: String}
    AND toDate(occurred_at) = {day: Date}
