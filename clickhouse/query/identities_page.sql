-- The living identities of one project between two event_ids, both included, in no order, as raw UUIDs.
SELECT event_id
FROM event_identities
WHERE stream = {stream: String}
    AND project_id = {project_id: String}
    AND event_id >= {from: UUID}
    AND event_id <= {to: UUID}
    AND occurred_at >= {alive_since: DateTime64(3, 'UTC')}
FORMAT RowBinary
