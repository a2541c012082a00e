-- All rows of those of the given identities that have several rows, each with what the log would hold.
-- project_ids, event_ids: the identities; times: the occurred_at of all rows, which bounds what is read.
SELECT
    project_id,
    event_id,
    toString(toDate(occurred_at)) AS day,
    toString(version) AS row_version,
    toString(flush) AS number,
    received_at,
    hex(entry) AS digits
FROM decisions
WHERE project_id IN {project_ids: Array(String)}
    AND event_id IN {event_ids: Array(UUID)}
    AND occurred_at IN {times: Array(DateTime64(3, 'UTC'))}
    AND (project_id, event_id) IN (
        SELECT project_id, event_id
        FROM decisions
        WHERE project_id IN {project_ids: Array(String)}
            AND event_id IN {event_ids: Array(UUID)}
            AND occurred_at IN {times: Array(DateTime64(3, 'UTC'))}
        GROUP BY
            project_id,
            event_id
        HAVING count() > 1
    )
SETTINGS output_format_json_escape_forward_slashes = 0
