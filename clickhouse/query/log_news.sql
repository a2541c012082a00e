-- The rows of the rounds after a number, and the time of the store.
-- round: that number.
-- All rows of a round have its proposal; size: of the project's log including this row.
SELECT
    toString(now64(6, 'UTC')) AS now,
    groupArray((toString(round), toString(proposal), project_id, toString(start + count), counts)) AS rows
FROM
(
    SELECT
        round,
        proposal,
        project_id,
        start,
        length(entries) AS count,
        committed_at < proposed_at + INTERVAL 5 MINUTE AS counts
    FROM log_chunks
    WHERE round > {round: UInt64}
    ORDER BY
        round,
        project_id,
        start
)
