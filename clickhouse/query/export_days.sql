-- The days of an event table, oldest first, and what tells whether a day has changed since it was exported. table.
SELECT
    toDate(occurred_at) AS day,
    count() AS rows,
    max(received_at) AS newest
FROM {table: Identifier}
GROUP BY day
ORDER BY day
