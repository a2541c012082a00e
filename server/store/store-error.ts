/** What the caller of the store can do: nothing, wait, or try again. */
type StoreFault = 'row_rejected' | 'overloaded' | 'store_unavailable';

/** The only error of the store. The edge turns it into the problem of the same name; its message is for the caller. */
export class StoreError extends Error {
  readonly code: StoreFault;

  constructor(code: StoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
    this.code = code;
  }
}

/**
 * Faults of an inserted row itself: writing it again would fail again. All other faults, and every socket error, are
 * store_unavailable: losing a record is worse than a second try, which event_id makes safe.
 */
const ROW_FAULTS = new Map([
  [6, 'CANNOT_PARSE_TEXT'],
  [25, 'CANNOT_PARSE_ESCAPE_SEQUENCE'],
  [26, 'CANNOT_PARSE_QUOTED_STRING'],
  [27, 'CANNOT_PARSE_INPUT_ASSERTION_FAILED'],
  [38, 'CANNOT_PARSE_DATE'],
  [41, 'CANNOT_PARSE_DATETIME'],
  [53, 'TYPE_MISMATCH'],
  [69, 'ARGUMENT_OUT_OF_BOUND'],
  [70, 'CANNOT_CONVERT_TYPE'],
  [72, 'CANNOT_PARSE_NUMBER'],
  [117, 'INCORRECT_DATA'],
  [131, 'TOO_LARGE_STRING_SIZE'],
  [321, 'VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE'],
  [349, 'CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN'],
  [376, 'CANNOT_PARSE_UUID'],
  [407, 'DECIMAL_OVERFLOW'],
  [469, 'VIOLATED_CONSTRAINT'],
  [691, 'UNKNOWN_ELEMENT_OF_ENUM'],
]);

const TIMEOUT_EXCEEDED = 159;
const MEMORY_LIMIT_EXCEEDED = 241;

/** Faults of a store that has too much to do. */
const OVERLOAD_FAULTS = new Map([
  [TIMEOUT_EXCEEDED, 'TIMEOUT_EXCEEDED'],
  [160, 'TOO_SLOW'],
  [202, 'TOO_MANY_SIMULTANEOUS_QUERIES'],
  [394, 'QUERY_WAS_CANCELLED'],
]);

/**
 * The code of a ClickHouse error, undefined for any other. Checks the shape, because the driver of the embedded engine has its own class.
 * Uses the code, because the driver parses the type from the message, which may contain the text of a row.
 */
export function clickhouseCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('type' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^\d+$/.test(error.code) ? Number(error.code) : undefined;
}

/** A statement that read too much for its limits of time or memory. */
export function hasReadTooMuch(error: unknown): boolean {
  return (
    error instanceof StoreError &&
    [TIMEOUT_EXCEEDED, MEMORY_LIMIT_EXCEEDED].includes(clickhouseCode(error.cause) ?? -1)
  );
}

/** Keeps what the driver threw as the cause. Only an insert has a row to reject. */
export function storeErrorFrom(error: unknown, { isInsert = false } = {}): StoreError {
  if (error instanceof StoreError) return error;
  const code = clickhouseCode(error) ?? -1;
  const rowFault = isInsert ? ROW_FAULTS.get(code) : undefined;
  if (rowFault !== undefined) {
    const message = `The store rejected this record (${rowFault}). Sending it again will not help.`;
    return new StoreError('row_rejected', message, error);
  }
  if (OVERLOAD_FAULTS.has(code))
    return new StoreError('overloaded', 'The store took too long to answer.', error);
  const message =
    code === MEMORY_LIMIT_EXCEEDED && !isInsert
      ? 'The store has too little memory for this call. Try again; for a read, a shorter range or more filters help.'
      : 'The store did not answer. Try again.';
  return new StoreError('store_unavailable', message, error);
}
