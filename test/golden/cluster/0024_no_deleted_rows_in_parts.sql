ALTER TABLE decisions_rows ON CLUSTER 'fleet' MODIFY SETTING lightweight_mutation_projection_mode = 'throw';

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MODIFY SETTING lightweight_mutation_projection_mode = 'throw';

ALTER TABLE decisions_rows ON CLUSTER 'fleet' APPLY DELETED MASK SETTINGS mutations_sync = 0;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' APPLY DELETED MASK SETTINGS mutations_sync = 0
