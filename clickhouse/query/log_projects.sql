-- The projects of the records of some inserts. flushes: the inserts; since: no rows from before.
SELECT project_id
FROM decisions
PREWHERE flush IN (SELECT toUInt64(arrayJoin({flushes: Array(String)})))
WHERE occurred_at >= {since: DateTime64(3, 'UTC')}
GROUP BY project_id
SETTINGS optimize_use_projections = 0
