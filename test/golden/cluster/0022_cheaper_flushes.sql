ALTER TABLE decisions_rows ON CLUSTER 'fleet' MODIFY SETTING min_parts_to_merge_at_once = 32, serialization_info_version = 'basic';

ALTER TABLE decisions_rows ON CLUSTER 'fleet'
    MODIFY COLUMN reason CODEC(LZ4),
    MODIFY COLUMN violations CODEC(LZ4),
    MODIFY COLUMN hint CODEC(LZ4),
    MODIFY COLUMN user_id CODEC(LZ4);

CREATE OR REPLACE TABLE decisions ON CLUSTER 'fleet' AS decisions_rows
ENGINE = Distributed('fleet', 'gatehouse', 'decisions_rows', sipHash64(project_id, event_id));

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MODIFY SETTING min_parts_to_merge_at_once = 32, serialization_info_version = 'basic';

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet' MODIFY COLUMN user_id CODEC(LZ4);

CREATE OR REPLACE TABLE llm_invocations ON CLUSTER 'fleet' AS llm_invocations_rows
ENGINE = Distributed('fleet', 'gatehouse', 'llm_invocations_rows', sipHash64(project_id, event_id))
