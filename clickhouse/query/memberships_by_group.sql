-- The memberships that a group of the OpenID Connect provider gave to an account.
-- account_id: never ''.
SELECT project_id
FROM project_members FINAL
WHERE account_id = {account_id: String}
    AND is_member = 1
    AND by_group = 1
ORDER BY project_id
