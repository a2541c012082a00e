-- The rotations of the root key that count, oldest first. Few: one a year, say.
SELECT
    kid,
    previous_kid,
    succession,
    acknowledgement
FROM root_key_successions
FINAL
WHERE version = 0
ORDER BY
    created_at,
    kid
