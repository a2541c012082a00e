-- The root keys that signed the stored bundles. Bundles of early versions do not name theirs.
SELECT DISTINCT JSONExtractString(bundle_manifest, 'kid') AS kid
FROM agent_versions
WHERE kid != ''
