-- Marks the identities of inserts of other services under the number of the insert, so that searches for other writers
-- find them. The other services may have ended before they marked them.
-- flushes.
INSERT INTO event_identities (stream, project_id, event_id, occurred_at, received_at, writer)
SELECT
    'decisions',
    project_id,
    event_id,
    occurred_at,
    received_at,
    flush
FROM decisions
WHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
