-- The sessions of an account that have not been ended, as they stand now, latest use first.
-- account_id: found by its index, not by the sorting key. session_epoch: the account's, others have ended.
SELECT
    session_hash,
    created_at,
    seen_at,
    address,
    user_agent
FROM sessions FINAL
WHERE account_id = {account_id: String}
    AND session_epoch = {session_epoch: String}
    AND is_ended = 0
ORDER BY
    seen_at DESC,
    session_hash
