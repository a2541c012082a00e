-- The current state of the sessions of an account that have not ended, the last used first.
-- account_id: found by its index, not by the sorting key.
-- session_epoch: that of the account; sessions of other epochs have ended.
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
