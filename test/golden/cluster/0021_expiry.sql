ALTER TABLE decisions_rows ON CLUSTER 'fleet'
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet'
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE event_identities_rows ON CLUSTER 'fleet'
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0
