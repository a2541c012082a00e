-- A record lives until 90 days after occurred_at to the millisecond, and reads leave it out from then on. The engine counts in
-- whole seconds and by its own clock: an hour later, so that it never drops what a read would still show.
-- materialize_ttl_after_modify = 0: parts that are there keep the time they have, instead of all being written again.
ALTER TABLE decisions
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE llm_invocations
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE event_identities
    MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY + INTERVAL 1 HOUR
    SETTINGS materialize_ttl_after_modify = 0
