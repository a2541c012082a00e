-- The days of an event table, oldest first, with what changes when a day changes. table.
SELECT
    toDate(occurred_at) AS day,
    count() AS rows,
    max(received_at) AS newest
FROM {table: Identifier}
GROUP BY day
ORDER BY day
