-- Adds one day of rows that did not come through the service to the index of identities.
-- stream, table: decisions or llm_invocations, both the same name; project_id; day.
-- Adds all rows of the day, because a fill that was killed may have left out the last ones.
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
