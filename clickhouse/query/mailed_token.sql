-- One mailed token, used or not; tokens are written once.
-- token_hash: SHA-256 of the token, in hexadecimal.
SELECT
    toString(kind) AS kind,
    account_id,
    email_folded,
    session_epoch,
    expires_at
FROM mailed_tokens FINAL
WHERE token_hash = {token_hash: String}
