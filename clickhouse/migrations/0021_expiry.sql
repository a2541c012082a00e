-- Reads leave a record out from 90 days after occurred_at, to the millisecond. The engine counts in whole seconds and by its
-- own clock, so it drops rows an hour later than that.
-- materialize_ttl_after_modify = 0: existing parts keep their TTL instead of being rewritten.
ALTER TABLE decisions
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE llm_invocations
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE event_identities
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0
