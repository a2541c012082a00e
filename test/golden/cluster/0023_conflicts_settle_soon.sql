ALTER TABLE decisions_rows ON CLUSTER 'fleet' MODIFY SETTING number_of_free_entries_in_pool_to_execute_mutation = 1;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MODIFY SETTING number_of_free_entries_in_pool_to_execute_mutation = 1
