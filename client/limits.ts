/** POSTs in flight per sender. The next event is dropped, or waits for its batch. */
export const IN_FLIGHT_MAX = 32;

/** The defaults of `batch: true`. */
export const BATCH_DEFAULTS = { maxEvents: 100, maxWaitMs: 50, maxPending: 10_000 };

/** The service accepts no larger batch. */
export const BATCH_EVENTS_MAX = 1_000;

/** Ranges of numbers in the header of a batch: with 16 digits each they are 7 KB, and proxies accept 8. */
export const BATCH_RANGES_MAX = 200;

/** The size of the largest event, so that batches in flight use no more memory than single posts. The service accepts 8 MiB. */
export const BATCH_BYTES_MAX = 1024 * 1024;

/** Bytes of events that wait for a batch; further events are dropped. */
export const PENDING_BYTES_MAX = 16 * 1024 * 1024;

/** Beyond this size a journal continues in a new file, so that the old one can be removed once its events are settled. */
export const JOURNAL_FILE_BYTES = 1024 * 1024;

/** The service does not accept events that are older than 90 days. */
export const JOURNAL_MS_MAX = 90 * 24 * 60 * 60_000;

/** Warns at drops 1, 100, 200 and so on. */
export const WARNING_EVERY = 100;

/** One HTTP exchange, from connecting to the last byte. */
export const HTTP_TIMEOUT_MS = 5_000;

/** After a refresh that used up its time, a run waits this long for its own refresh, until one succeeds. */
export const REFRESH_WAIT_AFTER_FAILURE_MS = 250;

/** The retry waits for the shorter of this and the HTTP timeout. */
export const RETRY_WAIT_MS_MAX = 2_000;

/** The wait before events that a journal keeps are sent again; it doubles after each failure. */
export const RESEND_WAIT_MS = 1_000;
export const RESEND_WAIT_MS_MAX = 60_000;

/** Longer than the worst event can take: 5 s, a wait of 2 s, 5 s. */
export const SHUTDOWN_TIMEOUT_MS = 15_000;

/** How long shutdown waits for aborted events to end. */
export const DESTROY_TIMEOUT_MS = 1_000;

/** Node runs a longer timer after 1 ms. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** UTF-8 bytes of the JSON text; above this the service answers 413. */
export const ARGUMENTS_BYTES_MAX = 8_192;

/** Code points of the names in an event; the service refuses more. */
export const NAME_LENGTH_MAX = 200;

/** Code points of the provider, operation, finish reason and error type of a model call. */
export const LABEL_LENGTH_MAX = 100;

/** Values that `emit` reads of one event; the rest is cut. */
export const EVENT_VALUES_MAX = 10_000;

/** The work that one recorded copy may cost: the length of its texts, plus this much for each value. Ends an endless proxy. */
export const COPY_UNITS_MAX = 64 * 1024 * 1024;
export const COPY_UNITS_PER_CONTAINER = 512;
export const COPY_UNITS_PER_LEAF = 128;

/** Bounds the memory of 32 events in flight. */
export const EVENT_CHARACTERS_MAX = 1024 * 1024;

/** At most this much of an error's body is read, which is enough for its code and detail. */
export const PROBLEM_CHARACTERS_MAX = 4_096;

/** An agent record has at most 1 MiB of texts and a module of about 140 KB. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** How many successions of a key set are read, from the first on: about one a year for a century. */
export const SUCCESSIONS_MAX = 100;
