-- All public keys that sign or signed the logs of this store, in base64.
SELECT
    toString(accepted_at) AS accepted_at,
    public_key
FROM log_keys
