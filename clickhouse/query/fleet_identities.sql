-- Adds one day of rows that did not come through the service to the index of identities.
-- stream, table: decisions or llm_invocations, both the same name; project_id; day. All of its rows: of a fill that was
-- killed, the last ones may be missing.
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
