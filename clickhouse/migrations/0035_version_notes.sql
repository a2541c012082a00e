-- Why a version was saved; '' if there is no note. The signature does not cover it.
ALTER TABLE agent_versions ADD COLUMN IF NOT EXISTS note String DEFAULT '' CODEC(ZSTD(1))
