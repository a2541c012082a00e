-- Which service evaluates the alerts of a minute. minute.
SELECT holder
FROM alert_rounds
WHERE minute = {minute: DateTime('UTC')}
ORDER BY holder
LIMIT 1
