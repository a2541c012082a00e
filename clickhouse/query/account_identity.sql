-- The account of a person at an OpenID Connect provider: of several rows (the net under the claim) the first, then the smaller id.
-- issuer, subject: as the provider says them.
SELECT email_folded
FROM account_identities
WHERE issuer = {issuer: String}
    AND subject = {subject: String}
ORDER BY
    created_at,
    account_id
LIMIT 1
