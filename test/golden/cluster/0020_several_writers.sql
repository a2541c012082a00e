ALTER TABLE event_identities_rows ON CLUSTER 'fleet'
    ADD COLUMN IF NOT EXISTS writer UInt64 CODEC(ZSTD(1)),
    MODIFY ORDER BY (stream, project_id, event_id, writer);

CREATE OR REPLACE TABLE event_identities ON CLUSTER 'fleet' AS event_identities_rows
ENGINE = Distributed('fleet', 'gatehouse', 'event_identities_rows', sipHash64(project_id, event_id))
