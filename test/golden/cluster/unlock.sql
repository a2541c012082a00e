DROP TABLE IF EXISTS migration_lock ON CLUSTER 'fleet' SYNC
