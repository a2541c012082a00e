ALTER TABLE log_chunks ON CLUSTER 'fleet' MODIFY SETTING merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
