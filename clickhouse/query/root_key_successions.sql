-- The rotations of the root key, oldest first. Few: one a year, say. One with a version above 0 was forgotten.
SELECT
    kid,
    previous_kid,
    succession,
    acknowledgement,
    version
FROM root_key_successions
FINAL
ORDER BY
    created_at,
    kid
