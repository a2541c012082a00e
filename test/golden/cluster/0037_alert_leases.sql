ALTER TABLE alerts ON CLUSTER 'fleet' ADD COLUMN IF NOT EXISTS renewed_at DateTime64(3, 'UTC') DEFAULT fired_at
