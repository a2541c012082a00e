-- One page of the living identities of one project, in order of event_id, as raw UUIDs.
-- from: the last event_id of the page before, which is read again; limit: rows of a page.
SELECT event_id
FROM event_identities
WHERE stream = {stream: String}
    AND project_id = {project_id: String}
    AND event_id >= {from: UUID}
    AND occurred_at >= {alive_since: DateTime64(3, 'UTC')}
ORDER BY event_id
LIMIT {limit: UInt32}
FORMAT RowBinary
