-- The current state of one session: its newest row has the highest version.
-- session_hash: SHA-256 of the cookie's value, in hexadecimal.
SELECT
    account_id,
    email_folded,
    session_epoch,
    created_at,
    seen_at,
    is_ended,
    address,
    user_agent,
    version
FROM sessions FINAL
WHERE session_hash = {session_hash: String}
