CREATE TABLE migration_lock ON CLUSTER 'fleet' (x UInt8) ENGINE = Memory
