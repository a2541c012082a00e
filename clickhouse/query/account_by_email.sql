-- The current account of an e-mail address.
-- email_folded: the address in lower case.
-- The claim allows one account per address. Should several exist, the one created first counts. The password and the
-- session epoch come from one row; of two set at the same time, the greater epoch wins for every reader.
-- reset_epoch: a password change leaves it as it is until the account is claimed.
SELECT
    account_id AS id,
    a.email_folded AS email_folded,
    any(a.email) AS email,
    max(change = 'verified') AS is_verified,
    max(change IN ('verified', 'password_set')) AS is_claimed,
    argMaxIf(tuple(password_hash, session_epoch), tuple(version, session_epoch), change != 'verified') AS password,
    if(is_claimed, password.2, argMaxIf(session_epoch, version, change = 'registered')) AS reset_epoch,
    min(a.created_at) AS created_at,
    max(a.version) AS newest_version
FROM accounts AS a
WHERE a.email_folded = {email_folded: String}
GROUP BY
    a.email_folded,
    account_id
ORDER BY
    created_at,
    id
LIMIT 1
