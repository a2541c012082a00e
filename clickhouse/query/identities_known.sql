-- Which of these identities belong to a record that has not expired. The caller matches the pairs, because the answer
-- may combine a project and an id of different pairs. PREWHERE: most ids are new, so for most granules only this column
-- is read.
-- stream; project_ids, event_ids: the identities; alive_since: records that occurred before this time have expired.
SELECT
    project_id,
    event_id
FROM event_identities
PREWHERE event_id IN {event_ids: Array(UUID)}
WHERE stream = {stream: String}
    AND project_id IN {project_ids: Array(String)}
    AND occurred_at >= {alive_since: DateTime64(3, 'UTC')}
