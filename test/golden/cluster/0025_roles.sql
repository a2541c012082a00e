ALTER TABLE project_members ON CLUSTER 'fleet'
    ADD COLUMN IF NOT EXISTS role LowCardinality(String) DEFAULT '',
    ADD COLUMN IF NOT EXISTS added_at DateTime64(3, 'UTC') DEFAULT changed_at
