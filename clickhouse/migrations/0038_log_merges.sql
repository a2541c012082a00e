-- Small parts wait until there are several to merge. By default the engine leaves the smallest part out of a merge even if only
-- one large part and one small part remain: a log of 75,000 entries was rewritten in every second round, and the old copies took a
-- hundred times its size on disk.
ALTER TABLE log_chunks MODIFY SETTING merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
