ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' ADD INDEX IF NOT EXISTS of_user user_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' ADD INDEX IF NOT EXISTS of_session session_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MATERIALIZE INDEX of_user SETTINGS mutations_sync = 0;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MATERIALIZE INDEX of_session SETTINGS mutations_sync = 0
