-- A few pieces of a log with records that were received between two times. project_id; received_from, received_to.
-- Parts that are not merged have no indexes. The conditions stand in PREWHERE, so that only the entries of these pieces are read.
SELECT
    toString(start) AS from,
    base64Encode(arrayStringConcat(arrayMap(entry -> concat(entry, ''), entries))) AS entries
FROM log_chunks
PREWHERE project_id = {project_id: String}
    AND received_from <= {received_to: DateTime64(3, 'UTC')}
    AND received_to >= {received_from: DateTime64(3, 'UTC')}
WHERE committed_at < proposed_at + INTERVAL 5 MINUTE
LIMIT 4
SETTINGS
    max_threads = 1,
    output_format_json_escape_forward_slashes = 0
