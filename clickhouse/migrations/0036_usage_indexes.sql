-- Finds the model calls of a user or a session, as in decisions. Merges build the indexes, so that ingest takes no longer.
-- Existing parts get them in the background. Until then those reads take longer.
ALTER TABLE llm_invocations ADD INDEX IF NOT EXISTS of_user user_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE llm_invocations ADD INDEX IF NOT EXISTS of_session session_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE llm_invocations MATERIALIZE INDEX of_user SETTINGS mutations_sync = 0;

ALTER TABLE llm_invocations MATERIALIZE INDEX of_session SETTINGS mutations_sync = 0
