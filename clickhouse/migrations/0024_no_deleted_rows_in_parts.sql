-- Removed rows must leave the parts. A lightweight DELETE only masks them, and a masked row stays visible through the
-- projection by_user until its part is merged again (https://github.com/ClickHouse/ClickHouse/issues/111791). Rows are now
-- removed by ALTER TABLE … DELETE, which writes the parts anew, and the tables refuse a lightweight DELETE.
-- APPLY DELETED MASK repairs the parts with masked rows, in the background; other parts are left as they are.
ALTER TABLE decisions MODIFY SETTING lightweight_mutation_projection_mode = 'throw';

ALTER TABLE llm_invocations MODIFY SETTING lightweight_mutation_projection_mode = 'throw';

ALTER TABLE decisions APPLY DELETED MASK SETTINGS mutations_sync = 0;

ALTER TABLE llm_invocations APPLY DELETED MASK SETTINGS mutations_sync = 0
