-- Merges of 32 small parts instead of 16 (see 0001_events.sql): a seventh less processor time per event at 64 connections.
ALTER TABLE decisions MODIFY SETTING min_parts_to_merge_at_once = 32;

ALTER TABLE llm_invocations MODIFY SETTING min_parts_to_merge_at_once = 32
