// SPECIFICATION 8 and CONTRACT 3-5 as constants, with their units.

const SECOND_MS = 1000;
export const DAY_MS = 24 * 60 * 60 * SECOND_MS;

export const ARGUMENTS_BYTES_MAX = 8192;
export const HINT_BYTES_MAX = 4096;
export const INGEST_BODY_BYTES_MAX = 64 * 1024;
export const BODY_BYTES_MAX = 1024 * 1024;

export const OCCURRED_AT_FUTURE_MS_MAX = 5 * 60 * SECOND_MS;
export const RETENTION_MS = 90 * DAY_MS;

export const RETRY_AFTER_SECONDS = 5;
/** A caller waits this long for its row to be durable; CONTRACT 3 wants the 503 within 5 s. */
export const WRITE_WAIT_MS_MAX = 4500;
/** Rows that would wait longer than this before their own flush begins are told to come back. */
export const QUEUE_WAIT_MS_MAX = 1000;
/** The queue holds this many bytes of rows before callers are told to come back. */
export const QUEUE_BYTES_MAX = 256 * 1024 * 1024;

/** A read may run this long in the store (CONTRACT 5). */
export const READ_SECONDS_MAX = 10;
/** Statements of reads that run side by side, and those that may wait for a place: a page of decisions asks two at once. */
export const READS_RUNNING_MAX = 4;
export const READS_WAITING_MAX = 128;
/** A read that has not found a place by then is answered 503. */
export const READ_WAIT_MS_MAX = 4500;

/** Verified bearer keys kept in memory. */
export const VERIFIED_KEYS_MAX = 10_000;
export const BEARER_KEY_CHARS_MAX = 4096;
/** Revocations known to this process are at most this old (CONTRACT 6: 5 s). */
export const REVOCATION_AGE_MS_MAX = 4000;

/** A whole request, head and body, has this long to arrive. */
export const REQUEST_ARRIVAL_MS_MAX = 30 * SECOND_MS;
export const HEADERS_ARRIVAL_MS_MAX = 10 * SECOND_MS;

/** One statement that a caller waits for: after two of them there must still be time for a 503 within 5 s. */
export const STATEMENT_WAIT_MS_MAX = 2300;
/** Statements of callers that the store has not finished; it does some hundred a second. */
export const STATEMENTS_OPEN_MAX = 400;

/** OWASP's cost takes 0.2 s of a processor, so few at once; those in line are answered within 5 s. */
export const PASSWORDS_RUNNING_MAX = 2;
export const PASSWORDS_WAITING_MAX = 64;
export const PASSWORD_WAIT_MS_MAX = 4000;
export const PASSWORD_CHARS_MIN = 12;
export const PASSWORD_BYTES_MAX = 1024;
/** RFC 5321 section 4.5.3.1.3: a path has at most 256 octets, two of them its brackets. */
export const EMAIL_CHARS_MAX = 254;

export const VERIFY_TOKEN_MS_MAX = DAY_MS;
export const RESET_TOKEN_MS_MAX = 60 * 60 * SECOND_MS;

/** A session ends when it is not used for so long, and at the latest so long after the login. */
export const SESSION_IDLE_MS_MAX = 12 * 60 * 60 * SECOND_MS;
export const SESSION_MS_MAX = 7 * DAY_MS;
/** Its last use is written down at most this often. */
export const SESSION_TOUCH_MS_MIN = 5 * 60 * SECOND_MS;

/** All attempts are counted over this long. The first two figures are CONTRACT 8's. */
export const ATTEMPT_WINDOW_MS = 15 * 60 * SECOND_MS;
export const LOGIN_FAILURES_PER_ACCOUNT_MAX = 10;
export const LOGIN_FAILURES_PER_ADDRESS_MAX = 50;
/** Mails asked for: enough for any honest use, far too few to flood a mailbox for long. */
export const MAILS_PER_ACCOUNT_MAX = 100;
export const MAILS_PER_ADDRESS_MAX = 500;
/** A mailed token cannot be guessed; this only bounds the work that wrong ones make. */
export const TOKEN_FAILURES_PER_ADDRESS_MAX = 300;
export const REGISTRATIONS_PER_ADDRESS_MAX = 600;

/** Mails that wait or are under way; more are dropped and counted. */
export const MAILS_WAITING_MAX = 1000;
export const MAILS_SENDING_MAX = 4;
export const MAIL_CONNECT_MS_MAX = 5 * SECOND_MS;
export const MAIL_ATTEMPT_MS_MAX = 8 * SECOND_MS;
/** A failed attempt is made again after each of these. */
export const MAIL_RETRY_MS = [500, 3000] as const;
/** How long a stop waits for mails under way. */
export const MAIL_DRAIN_MS_MAX = 1000;

export const PROJECT_NAME_CHARS_MAX = 100;
export const KEY_NAME_CHARS_MAX = 100;
/** A hundred years: DateTime64 ends in 2299. */
export const KEY_DAYS_MAX = 36_500;
