-- All rows of these identities.
-- table: decisions or llm_invocations; times: the occurred_at of all of them, which bounds what is read.
-- version is the highest for the row received first; with the identity it names one row.
SELECT
    project_id,
    event_id,
    toDate(occurred_at) AS day,
    toString(version) AS version
FROM {table: Identifier}
WHERE project_id IN {project_ids: Array(String)}
    AND event_id IN {event_ids: Array(UUID)}
    AND occurred_at IN {times: Array(DateTime64(3, 'UTC'))}
