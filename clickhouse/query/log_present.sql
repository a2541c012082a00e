-- Which of these entries are in a log. entries: in hex; received_from, received_to: when their records were received.
SELECT hex(entry) AS digits
FROM
(
    SELECT arrayJoin(entries) AS entry
    FROM log_chunks
    WHERE received_from <= {received_to: DateTime64(3, 'UTC')}
        AND received_to >= {received_from: DateTime64(3, 'UTC')}
        AND committed_at < proposed_at + INTERVAL 5 MINUTE
)
WHERE hex(entry) IN {entries: Array(String)}
