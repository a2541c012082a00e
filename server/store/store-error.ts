import { RequestError } from '../errors.ts';

/**
 * The faults that are the row's own: writing it again would fail again. Everything else, and every socket
 * error, is store_unavailable: losing a record is worse than a second try, and event_id makes that safe.
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

/** Faults that say the store has more to do than it can: worth another word than "away". */
const OVERLOAD_FAULTS = new Map([
  [159, 'TIMEOUT_EXCEEDED'],
  [160, 'TOO_SLOW'],
  [202, 'TOO_MANY_SIMULTANEOUS_QUERIES'],
  [394, 'QUERY_WAS_CANCELLED'],
]);

/**
 * The code of a ClickHouse error, undefined for any other. By its shape, because the embedded engine's driver has a
 * class of its own. By code and not by type: the driver finds the type in the message, where the words of a row may stand.
 */
export function clickhouseCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('type' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^\d+$/.test(error.code) ? Number(error.code) : undefined;
}

/**
 * Turns what the driver threw into what a caller may see; the driver's error stays as the cause.
 * @returns a RequestError row_rejected, overloaded or store_unavailable
 */
export function storeErrorFrom(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const code = clickhouseCode(error);
  const rowFault = code === undefined ? undefined : ROW_FAULTS.get(code);
  if (rowFault !== undefined) {
    const detail = `The store refused this record (${rowFault}). Sending it again will not help.`;
    return new RequestError('row_rejected', detail, { cause: error });
  }
  if (code !== undefined && OVERLOAD_FAULTS.has(code)) {
    return new RequestError('overloaded', 'The store took too long to answer.', { cause: error });
  }
  return new RequestError('store_unavailable', 'The store did not answer. Try again.', { cause: error });
}
