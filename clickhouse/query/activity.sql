-- The activity of a project and the account activity of its members, newest first. The reader sees all of their own
-- account activity, and that of other members only since their first action in this project, because anyone can be made
-- a member without consent.
-- project_id; account_ids: its members; reader_id: one of them; before_at and before_id: only rows that sort after this
-- one, for the next page; limit.
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
LEFT JOIN
(
    SELECT
        account_id,
        min(occurred_at) AS active_from
    FROM activity
    WHERE project_id = {project_id: String}
        AND account_id IN {account_ids: Array(String)}
    GROUP BY account_id
) AS members USING (account_id)
WHERE (
    project_id = {project_id: String}
    OR (project_id = '' AND account_id = {reader_id: String})
    OR (project_id = '' AND account_id IN {account_ids: Array(String)} AND active_from > 0 AND occurred_at >= active_from)
)
    AND (occurred_at, toString(activity_id)) < ({before_at: DateTime64(3, 'UTC')}, {before_id: String})
ORDER BY
    occurred_at DESC,
    id DESC
LIMIT {limit: UInt32}
