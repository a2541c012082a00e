-- The record with an id as a line of the NDJSON export, with its salt. The caller computes its entry in the log from
-- both: with a column for it, the engine would analyze the line twice. Parameters, and the row that counts: see
-- decision.sql.
SELECT
    received_at,
    line,
    salt
FROM decisions
WHERE project_id = {project_id: String}
    AND decisions.event_id = {event_id: UUID}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND (empty({places: Array(DateTime64(3, 'UTC'))}) OR occurred_at IN {places: Array(DateTime64(3, 'UTC'))}) -- optional: places
    AND ({recent: Nullable(DateTime('UTC'))} IS NULL OR _part IN (SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'decisions' AND active AND modification_time >= {recent: Nullable(DateTime('UTC'))})) -- optional: recent
ORDER BY version DESC
LIMIT 1
SETTINGS
    max_threads = 1,
    optimize_use_projections = 0,
    output_format_json_escape_forward_slashes = 0
