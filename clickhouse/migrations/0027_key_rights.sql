-- The agents that a bearer key is restricted to, none for all agents, and the account that issued it, '' for the command line and
-- for keys from before this column.
ALTER TABLE api_keys
    ADD COLUMN IF NOT EXISTS agents Array(String),
    ADD COLUMN IF NOT EXISTS created_by String DEFAULT ''
