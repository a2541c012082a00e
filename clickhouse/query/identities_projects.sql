-- The projects that have events. stream: decisions or llm_invocations.
SELECT DISTINCT project_id
FROM event_identities
WHERE stream = {stream: String}
