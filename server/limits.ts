// The limits of the service. See docs/protocol.md, "Limits".

import { DAY_MS, SECOND_MS } from './durations.ts';

export const ARGUMENTS_BYTES_MAX = 8192;
export const HINT_BYTES_MAX = 4096;
export const BODY_BYTES_MAX = 1024 * 1024;
/** Events in one request, and their bytes after decompression. */
export const BATCH_EVENTS_MAX = 1000;
export const BATCH_BYTES_MAX = 8 * 1024 * 1024;

export const OCCURRED_AT_FUTURE_MS_MAX = 5 * 60 * SECOND_MS;
export const RETENTION_MS = 90 * DAY_MS;

export const RETRY_AFTER_SECONDS = 5;
/** A caller waits this long for its row to be durable. A 503 must be answered within 5 s. */
export const WRITE_WAIT_MS_MAX = 4500;
/** A row that would wait longer than this for its flush is refused immediately. */
export const QUEUE_WAIT_MS_MAX = 1000;
/** The rows of one insert have about this many bytes at most. */
export const INSERT_BYTES_MAX = 32 * 1024 * 1024;
/** Beyond this many bytes of queued rows, callers are refused. */
export const QUEUE_BYTES_MAX = 256 * 1024 * 1024;

/** Lines of the log that wait for standard output, which may be blocked. More lines are dropped. */
export const LOG_CHARS_MAX = 16 * 1024 * 1024;
/** How long they may wait after the stop. */
export const LOG_END_MS_MAX = 400;

/** How many values a filter of a read may have. */
export const FILTER_VALUES_MAX = 20;
/** The length of a text that decisions are searched for. */
export const SEARCH_CHARS_MAX = 200;
/** A read may run this long in the store. */
export const READ_SECONDS_MAX = 10;
/** How many read statements may run at once, and how many may wait. A page of decisions takes two. */
export const READS_RUNNING_MAX = 4;
export const READS_WAITING_MAX = 128;
/** A read that has waited this long to start is answered 503. */
export const READ_WAIT_MS_MAX = 4500;

/** Threads that parse and decide policies. Each takes a whole processor while it works. */
export const POLICY_THREADS_MAX = 2;
export const POLICY_THREAD_MEBIBYTES_MAX = 256;
/** How many projects may wait for such a thread, and how much work of one project may wait and run. */
export const POLICY_TASKS_WAITING_MAX = 64;
export const POLICY_TASKS_OF_PROJECT_MAX = 32;
/** How many records a replay holds at a time, each of at most 10 KiB. */
export const REPLAY_PAGE_ROWS = 500;

/** How many exports may run at once. Each holds one page of records. */
export const EXPORTS_RUNNING_MAX = 32;
export const EXPORTS_OF_PROJECT_MAX = 8;

/** How many verified bearer keys are kept in memory. */
export const VERIFIED_KEYS_MAX = 10_000;
/** Their total length. */
export const VERIFIED_KEY_CHARS_MAX = 32 * 1024 * 1024;
/** Enough for 50 agent names of 200 ASCII characters. */
export const BEARER_KEY_CHARS_MAX = 14 * 1024;
/** A revoked key must stop working within 5 s, so revocations are read at least this often. */
export const REVOCATION_AGE_MS_MAX = 4000;
/** With other processes on the store: a rotation of the root key is published by each of them within this time. */
export const ROOT_KEYS_AGE_MS_MAX = 1000;

/** The request line and the headers: room for 20 values of one filter with 200 characters each. */
export const HEAD_BYTES_MAX = 64 * 1024;
/** A whole request, headers and body, must arrive within this time. */
export const REQUEST_ARRIVAL_MS_MAX = 30 * SECOND_MS;
export const HEADERS_ARRIVAL_MS_MAX = 10 * SECOND_MS;
/**
 * A caller whose body took longer than this is identified again. A body that arrives with its head does not, so most calls cost nothing.
 * Removing a right takes longer than this, so holding a body back for less gains nothing.
 */
export const BODY_PROMPT_MS_MAX = 5;

/** The limits on bodies that are still arriving, from callers with a credential and from all others. */
export const ARRIVING_BYTES_MAX = 256 * 1024 * 1024;
export const ARRIVING_BYTES_OF_STRANGERS_MAX = 32 * 1024 * 1024;
/** Larger bodies are parsed in turn: 1 MiB of braces takes a sixth of a second. */
export const PLAIN_BYTES_MAX = 64 * 1024;
export const PLAIN_BYTES_OF_STRANGERS_MAX = 16 * 1024;
/** How long a body waits for all of its turns, to be inflated and to have each part parsed: a 503 is answered within 5 s. */
export const BODY_TURNS_MS_MAX = 4 * SECOND_MS;
/** For callers with a credential: one body is parsed per turn of the event loop, and the others wait. */
export const LARGE_BODIES = { runningMax: 1, waitingMax: 10_000, waitMsMax: BODY_TURNS_MS_MAX } as const;
/** Compressed bodies that are inflated and parsed at once, each of at most 1 MiB, and those that wait for it, from the same callers. */
export const HEAVY_BODIES = { runningMax: 1000, waitingMax: 10_000, waitMsMax: BODY_TURNS_MS_MAX } as const;
export const HEAVY_BODIES_OF_STRANGERS = {
  runningMax: 1,
  waitingMax: 64,
  waitMsMax: 2 * SECOND_MS,
  yields: true,
} as const;

/** Open connections; fewer where the process may not open so many files. */
export const CONNECTIONS_MAX = 10_000;
/** A caller must read the next piece of its answer, such as a page of an export, within this time. */
export const UNREAD_MS_MAX = 60 * SECOND_MS;
/** If a request is still arriving this long after its answer was sent, its connection is closed. */
export const LATE_REQUEST_MS_MAX = 5 * SECOND_MS;
/** How many requests of one connection are worked on at once. Later ones in its pipeline wait. */
export const PIPELINED_MAX = 16;
/** The total size of answers that callers have not read yet, over all connections. */
export const UNREAD_BYTES_MAX = 256 * 1024 * 1024;

/** Timeout of a statement that a caller waits for: after two of them a 503 must still be possible within 5 s. */
export const STATEMENT_WAIT_MS_MAX = 2300;
/** How many statements of callers may be open at once. The store finishes a few hundred per second. */
export const STATEMENTS_OPEN_MAX = 400;

/** A password hash with OWASP's parameters takes 0.2 s of a processor, so only a few run at once. */
export const PASSWORDS_RUNNING_MAX = 2;
export const PASSWORDS_WAITING_MAX = 64;
export const PASSWORD_WAIT_MS_MAX = 4000;
export const PASSWORD_CHARS_MIN = 12;
export const PASSWORD_BYTES_MAX = 1024;
/** RFC 5321 section 4.5.3.1.3: a path has at most 256 octets, including two brackets. */
export const EMAIL_CHARS_MAX = 254;

export const VERIFY_TOKEN_MS_MAX = DAY_MS;
export const RESET_TOKEN_MS_MAX = 60 * 60 * SECOND_MS;
export const INVITE_TOKEN_MS_MAX = 7 * DAY_MS;

/** A session ends when it is idle for this long, and at the latest this long after the login. */
export const SESSION_IDLE_MS_MAX = 12 * 60 * 60 * SECOND_MS;
export const SESSION_MS_MAX = 7 * DAY_MS;
/** How much of a login's User-Agent is stored. */
export const USER_AGENT_CHARS_MAX = 300;
/** A sign-on at the provider must end within this time. */
export const SIGN_ON_MS_MAX = 10 * 60 * SECOND_MS;
/** The page to open after a sign-on, in ASCII: its cookie holds 4 KB. */
export const SIGN_ON_NEXT_CHARS_MAX = 1000;
/** All calls to the provider at a callback, and the wait for them. */
export const SIGN_ON_CALLS_MS_MAX = 2 * STATEMENT_WAIT_MS_MAX;
/** How many sign-ons may exchange their code at once, and how many may wait for it. */
export const SIGN_ONS_RUNNING_MAX = 8;
export const SIGN_ONS_WAITING_MAX = 64;
/** The last use of a session is stored at most this often. */
export const SESSION_TOUCH_MS_MIN = 5 * 60 * SECOND_MS;

/** Attempts are counted over this window. */
export const ATTEMPT_WINDOW_MS = 15 * 60 * SECOND_MS;
export const LOGIN_FAILURES_PER_ACCOUNT_MAX = 10;
export const LOGIN_FAILURES_PER_ADDRESS_MAX = 50;
/** How many addresses are remembered for their last login, so that their next one does not wait for strangers. */
export const SIGNED_IN_ADDRESSES_MAX = 10_000;
/** Requests for mail: enough for honest use, too few to flood a mailbox. */
export const MAILS_PER_RECIPIENT_MAX = 20;
export const MAILS_PER_ADDRESS_MAX = 500;
/** How many members one account may add: the answer reveals whether an address has an account, and may send a mail. */
export const MEMBERS_ADDED_PER_ACCOUNT_MAX = 60;
/** How many keys one account may issue: each process keeps all keys of the store in memory. */
export const KEYS_ISSUED_PER_ACCOUNT_MAX = 1000;
/** A mailed token cannot be guessed; this only bounds the work caused by wrong tokens. */
export const TOKEN_FAILURES_PER_ADDRESS_MAX = 300;
export const REGISTRATIONS_PER_ADDRESS_MAX = 600;
/** How many mailed tokens may be used at once, and how many uses may wait. */
export const TOKEN_USES_RUNNING_MAX = 2;
export const TOKEN_USES_WAITING_MAX = 64;
export const TOKEN_USES_WAIT_MS_MAX = 2 * SECOND_MS;
/**
 * The pace of each call that needs no credential: faster requests wait up to two seconds, and are refused if too many wait. It also bounds
 * the number of keys that attempts are counted by: 45,000 for each call in 15 minutes.
 */
export const STRANGERS_PACE = {
  perSecond: 50,
  burst: 100,
  waitMsMax: 2 * SECOND_MS,
  waitingMax: 500,
} as const;

/** How many requests for mail wait after their answer: for the lookup of the account, and for the token. */
export const MAIL_REQUESTS_WAITING_MAX = 200;
export const MAIL_REQUEST_WAIT_MS_MAX = 60 * SECOND_MS;
/** How many mails may wait or be in transit. More are dropped and counted. */
export const MAILS_WAITING_MAX = 1000;
export const MAILS_SENDING_MAX = 4;
/** Some servers delay their greeting and scan a message before they accept it. With a shorter timeout, it would be sent twice. */
export const MAIL_CONNECT_MS_MAX = 10 * SECOND_MS;
export const MAIL_ATTEMPT_MS_MAX = 20 * SECOND_MS;
/** A failed attempt is repeated after each of these delays. */
export const MAIL_RETRY_MS = [500, 3000] as const;
/** A stop waits this long for mails that are being sent. */
export const MAIL_DRAIN_MS_MAX = 1000;

/** The number of pairs of agent and tool, and of agents, that a project's alerts cover: those with the most calls. */
export const ALERT_NAMES_MAX = 10_000;
/** A webhook must answer within this time. A failed attempt is repeated after each of these delays. */
export const WEBHOOK_MS_MAX = 10 * SECOND_MS;
export const WEBHOOK_RETRY_MS = [1000, 5000, 25_000] as const;
/** Of all projects together. Many, because a receiver that hangs takes its place for the whole time. */
export const WEBHOOKS_SENDING_MAX = 64;
export const WEBHOOK_URL_CHARS_MAX = 2000;

/** How many activity entries of reads a process remembers, to avoid writing them again. */
export const READ_ENTRIES_KNOWN_MAX = 10_000;
/** Entries about exports are inserted at most this often, together. */
export const EXPORT_ENTRIES_MS_MIN = 250;
export const EXPORT_ENTRIES_WAITING_MAX = 1000;

/** How many close reports of senders may wait for an insert, and how many share one. */
export const CLOSES_WAITING_MAX = 10_000;
export const CLOSES_TOGETHER_MAX = 1000;

export const PROJECT_NAME_CHARS_MAX = 100;
export const KEY_NAME_CHARS_MAX = 100;
/** How many agents a key may be restricted to. */
export const KEY_AGENTS_MAX = 50;
export const AGENT_NAME_CHARS_MAX = 200;
/** A hundred years: DateTime64 ends in 2299. */
export const KEY_DAYS_MAX = 36_500;

/** How many roots of logs a process remembers, 32 bytes each. */
export const LOG_ROOTS_KNOWN_MAX = 10_000;
/** How many tiles of logs a process keeps in memory, of up to 8 KiB each. */
export const LOG_TILES_KNOWN_MAX = 1000;
/** A record enters the log within seconds. */
export const PROOF_RETRY_AFTER_SECONDS = 2;
/** How many records' entries are read together for their receipts. */
export const RECEIPTS_TOGETHER_MAX = 1000;

/** A log that grew is offered to each witness at most this often, and not during a burst unless that lasts. */
export const WITNESS_OFFER_MS_MIN = 60 * SECOND_MS;
export const WITNESS_QUIET_MS_MAX = 5 * SECOND_MS;
/** How often logs are checked for growth, for their witnesses. */
export const WITNESS_POLL_MS = 2 * SECOND_MS;
export const WITNESS_MS_MAX = 10 * SECOND_MS;
export const WITNESS_ANSWER_CHARS_MAX = 64 * 1024;
