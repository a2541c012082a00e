-- What accounts see of their sessions, how a password was set, and the identities of single sign-on.
--
-- password_set: by a mailed token, which proves the address. password_changed: by someone who was signed in.
ALTER TABLE accounts
    MODIFY COLUMN IF EXISTS change Enum8('registered' = 1, 'verified' = 2, 'password_set' = 3, 'password_changed' = 4);

-- The network address and the user agent of the login.
ALTER TABLE sessions
    ADD COLUMN IF NOT EXISTS address String DEFAULT '',
    ADD COLUMN IF NOT EXISTS user_agent String DEFAULT '',
    ADD INDEX IF NOT EXISTS account_id_index account_id TYPE bloom_filter(0.01) GRANULARITY 1;

-- The account of a person at an OpenID Connect provider. The first row of an identity counts.
CREATE TABLE IF NOT EXISTS account_identities
(
    issuer String,
    subject String,
    account_id String,
    email_folded String,
    created_at DateTime64(3, 'UTC')
)
ENGINE = {engine: MergeTree}
ORDER BY (issuer, subject, created_at, account_id)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

-- 1 when a group of the provider gave the membership: it ends with the group.
ALTER TABLE project_members ADD COLUMN IF NOT EXISTS by_group UInt8 DEFAULT 0
