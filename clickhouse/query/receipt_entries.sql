-- The log entries of records that were just written, in base64.
-- project_ids, times, event_ids: of the events, by position; times: of occurred_at.
-- If an identity has several rows, the first one counts.
SELECT
    project_id,
    toString(event_id) AS event_id,
    base64Encode(argMax(entry, version)) AS entry
FROM decisions
WHERE project_id IN {project_ids: Array(String)}
    AND occurred_at IN {times: Array(DateTime64(3, 'UTC'))}
    AND (project_id, occurred_at, decisions.event_id) IN (SELECT arrayJoin(arrayZip(
    {project_ids: Array(String)},
    {times: Array(DateTime64(3, 'UTC'))},
    {event_ids: Array(UUID)}
)))
GROUP BY
    project_id,
    event_id
SETTINGS
    optimize_use_projections = 0,
    output_format_json_escape_forward_slashes = 0
