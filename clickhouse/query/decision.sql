-- The record with an id. Columns as in decisions_page.sql.
-- project_id, event_id; since: records with occurred_at from this time on; places: when it occurred, empty if unknown.
-- recent: only parts that were written from this time on, in UTC; null for all parts, which reads every id of the
-- project.
-- If there are several rows, the one received first counts, as with FINAL.
SELECT
    toString(event_id) AS event_id,
    occurred_at,
    agent_name,
    tool_name,
    outcome,
    role,
    error_type,
    reason,
    violations,
    hint,
    arguments,
    user_id,
    session_id,
    project_id,
    agent_version_id,
    received_at
FROM decisions
WHERE project_id = {project_id: String}
    AND decisions.event_id = {event_id: UUID}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND (empty({places: Array(DateTime64(3, 'UTC'))}) OR occurred_at IN {places: Array(DateTime64(3, 'UTC'))}) -- optional: places
    AND ({recent: Nullable(DateTime('UTC'))} IS NULL OR _part IN (SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'decisions' AND active AND modification_time >= {recent: Nullable(DateTime('UTC'))})) -- optional: recent
ORDER BY version DESC
LIMIT 1
SETTINGS optimize_use_projections = 0
