-- The verified e-mail addresses of some accounts.
-- account_ids.
SELECT any(email) AS email
FROM accounts
WHERE account_id IN {account_ids: Array(String)}
GROUP BY
    email_folded,
    account_id
HAVING max(change = 'verified') = 1
ORDER BY email
