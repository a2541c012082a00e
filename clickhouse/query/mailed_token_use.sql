-- The use of a mailed token that counts: the first one, then the smaller id.
-- token_hash: SHA-256 of the token, in hexadecimal.
SELECT use_id
FROM mailed_token_uses
WHERE token_hash = {token_hash: String}
ORDER BY
    used_at,
    use_id
LIMIT 1
