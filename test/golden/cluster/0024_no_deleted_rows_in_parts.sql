ALTER TABLE decisions_rows ON CLUSTER 'fleet' MODIFY SETTING lightweight_mutation_projection_mode = 'throw';

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MODIFY SETTING lightweight_mutation_projection_mode = 'throw';

ALTER TABLE decisions_rows ON CLUSTER 'fleet' APPLY DELETED MASK;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' APPLY DELETED MASK
