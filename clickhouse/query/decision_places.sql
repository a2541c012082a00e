-- When the record with an id occurred and was received. With the time, decision.sql reads only a few granules of one
-- day. No row: the identity is unknown, or not copied to this table yet. Several rows: services wrote it at the same
-- time.
-- project_id, event_id.
SELECT DISTINCT
    occurred_at,
    received_at
FROM event_identities
WHERE stream = 'decisions'
    AND project_id = {project_id: String}
    AND event_id = {event_id: UUID}
SETTINGS max_threads = 1
