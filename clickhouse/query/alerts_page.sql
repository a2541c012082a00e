-- The alerts of a project, newest first.
-- project_id; before_at and before_id: only rows that sort after this one, for the next page; limit.
SELECT
    toString(alert_id) AS id,
    fired_at,
    toString(rule) AS rule,
    agent_name,
    tool_name,
    range_from,
    range_to,
    total,
    denied,
    usual_total,
    usual_denied,
    toString(state) AS state,
    renewed_at
FROM alerts FINAL
WHERE project_id = {project_id: String}
    AND (fired_at, toString(alert_id)) < ({before_at: DateTime64(3, 'UTC')}, {before_id: String})
ORDER BY
    fired_at DESC,
    id DESC
LIMIT {limit: UInt32}
