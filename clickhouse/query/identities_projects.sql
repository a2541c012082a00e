-- The projects that have events. stream: decisions or llm_invocations. after_block: see identities_page.
SELECT DISTINCT project_id
FROM event_identities
WHERE stream = {stream: String}
    AND ({after_block: Nullable(UInt64)} IS NULL OR toUInt64(splitByChar('_', _part)[3]) > {after_block: Nullable(UInt64)}) -- optional: after_block
