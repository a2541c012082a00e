/** Spec 6.2: POSTs in flight per sender; the next event is dropped. */
export const IN_FLIGHT_MAX = 32;

/** Spec 7.3: a warning at drops 1, 100, 200 and so on. */
export const DROP_WARNING_EVERY = 100;

/** Spec 6.2: one HTTP exchange, from connecting to the last byte. */
export const HTTP_TIMEOUT_MS = 5_000;

/** Spec 6.2: the wait before the one retry is the shorter of this and the HTTP timeout. */
export const RETRY_WAIT_MS_MAX = 2_000;

/** Longer than the worst event can take: 5 s, a wait of 2 s, 5 s. */
export const SHUTDOWN_TIMEOUT_MS = 15_000;

/** How long shutdown waits for what it has given up on to end. */
export const DESTROY_TIMEOUT_MS = 1_000;

/** Node runs any longer timer, Infinity among them, after 1 ms. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Spec 8: UTF-8 bytes of the JSON text; one byte more is answered 413. */
export const ARGUMENTS_BYTES_MAX = 8_192;

/**
 * The work one copy of a value may cost. A string costs its length, so that 64 MiB of text are measured
 * exactly; what generates itself without end (a proxy, a getter) is cut after a fraction of a second.
 */
export const COPY_UNITS_MAX = 64 * 1024 * 1024;
export const COPY_UNITS_PER_CONTAINER = 512;
export const COPY_UNITS_PER_LEAF = 128;

/** Bounds the memory of 32 waiting events; the service refuses far smaller bodies. */
export const EVENT_CHARACTERS_MAX = 1024 * 1024;

/** Enough for a problem document's code and detail; the rest of an answer is thrown away. */
export const PROBLEM_CHARACTERS_MAX = 4_096;

/** A record is at most 1 MiB of texts and a module of about 140 KB; no answer is read past this. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** How long a fetched key set is good for. */
export const KEY_SET_AGE_MS_MAX = 5 * 60 * 1000;
