-- The account of a person at an OpenID Connect provider. The claim allows one row. Should several exist, the first one
-- counts, then the smaller id.
-- issuer, subject: as the provider sends them.
SELECT email_folded
FROM account_identities
WHERE issuer = {issuer: String}
    AND subject = {subject: String}
ORDER BY
    created_at,
    account_id
LIMIT 1
