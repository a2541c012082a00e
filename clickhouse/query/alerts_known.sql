-- The latest alerts of projects, and alerts by id.
-- project_ids; since: all alerts that fired since; alert_ids.
SELECT
    toString(alert_id) AS id,
    project_id,
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
WHERE project_id IN {project_ids: Array(String)}
    AND (fired_at >= {since: DateTime64(3, 'UTC')} OR alert_id IN {alert_ids: Array(UUID)})
ORDER BY fired_at, id
