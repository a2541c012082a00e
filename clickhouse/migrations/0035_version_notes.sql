-- Why a version was saved, in the words of who saved it; '' for no note. It is not part of what is signed.
ALTER TABLE agent_versions ADD COLUMN IF NOT EXISTS note String DEFAULT '' CODEC(ZSTD(1))
