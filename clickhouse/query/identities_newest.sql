-- When the newest record was received that has its identity, in milliseconds. stream: decisions or llm_invocations.
SELECT toUnixTimestamp64Milli(max(received_at)) AS newest
FROM event_identities
WHERE stream = {stream: String}
