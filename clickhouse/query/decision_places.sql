-- When the record with an id occurred, with which decision.sql reads a few granules of one day, and when it was received. No row: the
-- identity is unknown, or younger than its copy in this table. Several rows: services that wrote at the same time.
-- project_id, event_id.
SELECT DISTINCT
    occurred_at,
    received_at
FROM event_identities
WHERE stream = 'decisions'
    AND project_id = {project_id: String}
    AND event_id = {event_id: UUID}
SETTINGS max_threads = 1
