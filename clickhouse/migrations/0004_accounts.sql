-- Accounts, sessions, mailed tokens, memberships and activity. Passwords are stored as scrypt hashes, session and mailed
-- tokens as SHA-256.
--
-- non_replicated_deduplication_window: an insert that claims a name has a token derived from the name, and the store keeps
-- only the first insert with a token. Reading the row back shows which of several processes holds the name.

-- A row is a change. The newest row of each kind counts, so that two changes at the same time are both kept.
-- If two accounts have one e-mail in spite of the claim, the one created first counts, then the one with the smaller id.
CREATE TABLE IF NOT EXISTS accounts
(
    email_folded String,
    account_id String,
    version UInt64,
    change Enum8('registered' = 1, 'verified' = 2, 'password_set' = 3),
    created_at DateTime64(3, 'UTC'),
    email String,
    password_hash String,
    session_epoch String,
    INDEX account_id_index account_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine: MergeTree}
ORDER BY (email_folded, account_id, version)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

-- Later rows with a higher version store the last use of a session and its end, which has the highest version. A session is
-- valid only while its session_epoch is that of the account: a new password starts a new epoch.
CREATE TABLE IF NOT EXISTS sessions
(
    session_hash String,
    account_id String,
    email_folded String,
    session_epoch String,
    created_at DateTime64(3, 'UTC'),
    seen_at DateTime64(3, 'UTC'),
    is_ended UInt8,
    version UInt64
)
ENGINE = {engine: ReplacingMergeTree(version)}
ORDER BY session_hash
TTL toDateTime(created_at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS mailed_tokens
(
    token_hash String,
    kind Enum8('verify' = 1, 'reset' = 2),
    account_id String,
    email_folded String,
    session_epoch String,
    created_at DateTime64(3, 'UTC'),
    expires_at DateTime64(3, 'UTC')
)
ENGINE = {engine: ReplacingMergeTree}
ORDER BY token_hash
TTL toDateTime(created_at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- The first row of a mailed token is its use. The rows are kept for longer than the tokens, so a used token stays used.
CREATE TABLE IF NOT EXISTS mailed_token_uses
(
    token_hash String,
    used_at DateTime64(3, 'UTC'),
    use_id String
)
ENGINE = {engine: MergeTree}
ORDER BY (token_hash, used_at, use_id)
TTL toDateTime(used_at) + INTERVAL 60 DAY
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

-- The account that made a project is its owner and always a member; '' for a project made by command line.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS owner_id String DEFAULT '';

ALTER TABLE projects ADD COLUMN IF NOT EXISTS name_folded String DEFAULT '';

ALTER TABLE projects MODIFY SETTING non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS project_members
(
    account_id String,
    project_id String,
    is_member UInt8,
    changed_by String,
    changed_at DateTime64(3, 'UTC'),
    version UInt64,
    INDEX project_id_index project_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine: ReplacingMergeTree(version)}
ORDER BY (account_id, project_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- Activity entries, which never change. project_id is '' for an entry that is only about an account.
CREATE TABLE IF NOT EXISTS activity
(
    activity_id UUID,
    occurred_at DateTime64(3, 'UTC'),
    project_id String,
    account_id String,
    email String,
    key_id String,
    address String,
    event LowCardinality(String),
    detail String CODEC(ZSTD(1)),
    INDEX account_id_index account_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine: MergeTree}
ORDER BY (project_id, occurred_at, activity_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
