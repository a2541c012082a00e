-- Which of these identities a living record has taken. The pairs are matched by the caller: the answer may also
-- hold a pair of a project and an id that were asked for, but not together.
-- stream; project_ids, event_ids: what is asked for; alive_since: records that occurred before are expired.
SELECT
    project_id,
    event_id
FROM event_identities
WHERE stream = {stream: String}
    AND project_id IN {project_ids: Array(String)}
    AND event_id IN {event_ids: Array(UUID)}
    AND occurred_at >= {alive_since: DateTime64(3, 'UTC')}
