-- The e-mails of some accounts, as they were given.
-- account_ids: found by their index, not by the sorting key.
SELECT
    account_id AS id,
    any(email) AS email
FROM accounts
WHERE account_id IN {account_ids: Array(String)}
GROUP BY account_id
