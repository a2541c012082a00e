ALTER TABLE api_keys ON CLUSTER 'fleet'
    ADD COLUMN IF NOT EXISTS agents Array(String),
    ADD COLUMN IF NOT EXISTS created_by String DEFAULT ''
