-- What was done in a project, and what the reader did with its own account, newest first.
-- project_id; reader_id: an account, never ''; before_at and before_id: only what sorts after this row, for the next page; limit.
SELECT
    toString(activity_id) AS id,
    occurred_at,
    project_id,
    account_id,
    email,
    key_id,
    address,
    event,
    detail
FROM activity
WHERE (
    project_id = {project_id: String}
    OR (project_id = '' AND account_id = {reader_id: String})
)
    AND (occurred_at, toString(activity_id)) < ({before_at: DateTime64(3, 'UTC')}, {before_id: String})
ORDER BY
    occurred_at DESC,
    id DESC
LIMIT {limit: UInt32}
