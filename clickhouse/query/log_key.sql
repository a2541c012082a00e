-- The public key that signs the logs of this store, in base64. No row: no log has been signed yet.
SELECT public_key
FROM log_keys
ORDER BY
    accepted_at DESC,
    public_key DESC
LIMIT 1
