-- Rotations of the root key, and bundles that were signed again.
--
-- succession: the previous key vouches for the new one, so that clients follow. acknowledgement: the new key vouches for
-- the previous one, so that its signatures still verify. Both are compact JWS and hold only public keys. A second row with a
-- higher version forgets a rotation.
CREATE TABLE IF NOT EXISTS root_key_successions
(
    kid String,
    previous_kid String,
    created_at DateTime64(3, 'UTC'),
    succession String,
    acknowledgement String,
    version UInt8
)
ENGINE = {engine: ReplacingMergeTree(version)}
ORDER BY (previous_kid, kid)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- A version that is signed again is a second row: the same texts, module and ids, another manifest and signature.
ALTER TABLE agent_versions ADD COLUMN IF NOT EXISTS signed_at DateTime64(3, 'UTC') DEFAULT created_at
