-- When the records of these inserts were received; 1970 if there are none.
-- flushes, hour, since: as in log_pieces.
SELECT
    toString(min(received_at)) AS received_from,
    toString(max(received_at)) AS received_to,
    toString(count()) AS count
FROM decisions
WHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND ({hour: Nullable(DateTime('UTC'))} IS NULL OR (occurred_at >= {hour: Nullable(DateTime('UTC'))} AND occurred_at < {hour: Nullable(DateTime('UTC'))} + INTERVAL 1 HOUR)) -- optional: hour
