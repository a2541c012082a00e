-- Small parts are merged with each other, not with the records of the day. The engine counts each part as 5 MB larger than it is. So by
-- default 31 small parts and a part of up to 64 MB count as equal enough to be merged, before there are 32 small ones. Then it leaves all
-- but one of the small parts out: an insert of one record rewrote the records of the day. With a base of 64, 31 small parts are merged, and
-- a larger part with them only up to 0.4 MB.
ALTER TABLE decisions MODIFY SETTING
    min_parts_to_merge_at_once = 16,
    merge_selector_base = 64,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0;

ALTER TABLE llm_invocations MODIFY SETTING
    min_parts_to_merge_at_once = 16,
    merge_selector_base = 64,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
