-- The days of an event table, oldest first. table.
SELECT toDate(occurred_at) AS day
FROM {table: Identifier}
GROUP BY day
ORDER BY day
