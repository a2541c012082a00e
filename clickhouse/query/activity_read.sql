-- One row if the reads of an actor in an hour are already recorded, else none.
-- project_id; account_id or key_id, the other is ''; detail: as stored; since and until: the hour, until exclusive.
SELECT toString(activity_id) AS id
FROM activity
WHERE project_id = {project_id: String}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND occurred_at < {until: DateTime64(3, 'UTC')}
    AND event = 'records_read'
    AND account_id = {account_id: String}
    AND key_id = {key_id: String}
    AND detail = {detail: String}
LIMIT 1
