ALTER TABLE decisions_rows ON CLUSTER 'fleet' MODIFY SETTING
    min_parts_to_merge_at_once = 16,
    merge_selector_base = 64,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MODIFY SETTING
    min_parts_to_merge_at_once = 16,
    merge_selector_base = 64,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
