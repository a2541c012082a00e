-- The role of a member. '' in rows from before roles: the owner of the project stays its owner, others become admins.
-- added_at: when the account became a member; a change of its role keeps it.
ALTER TABLE project_members
    ADD COLUMN IF NOT EXISTS role LowCardinality(String) DEFAULT '',
    ADD COLUMN IF NOT EXISTS added_at DateTime64(3, 'UTC') DEFAULT changed_at
