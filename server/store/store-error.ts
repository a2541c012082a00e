import { ClickHouseError } from '@clickhouse/client';
import { RequestError } from '../errors.ts';

/**
 * The faults that are the row's own: writing it again would fail again. Everything else, and every socket
 * error, is store_unavailable: losing a record is worse than a second try, and event_id makes that safe.
 */
const ROW_FAULTS = new Set([
  'ARGUMENT_OUT_OF_BOUND',
  'CANNOT_CONVERT_TYPE',
  'CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN',
  'CANNOT_PARSE_ARRAY_FROM_TEXT',
  'CANNOT_PARSE_DATE',
  'CANNOT_PARSE_DATETIME',
  'CANNOT_PARSE_ESCAPE_SEQUENCE',
  'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
  'CANNOT_PARSE_NUMBER',
  'CANNOT_PARSE_QUOTED_STRING',
  'CANNOT_PARSE_TEXT',
  'CANNOT_PARSE_UUID',
  'DECIMAL_OVERFLOW',
  'INCORRECT_DATA',
  'TOO_LARGE_STRING_SIZE',
  'TYPE_MISMATCH',
  'UNKNOWN_ELEMENT_OF_ENUM',
  'VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE',
  'VIOLATED_CONSTRAINT',
]);

/** Faults that say the store has more to do than it can: worth another word than "away". */
const OVERLOAD_FAULTS = new Set([
  'TIMEOUT_EXCEEDED',
  'TOO_SLOW',
  'QUERY_WAS_CANCELLED',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
]);

/**
 * Turns what the driver threw into what a caller may see; the driver's error stays as the cause.
 * @returns a RequestError row_rejected, overloaded or store_unavailable
 */
export function storeErrorFrom(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const type = error instanceof ClickHouseError ? error.type : undefined;
  if (type !== undefined && ROW_FAULTS.has(type)) {
    return new RequestError(
      'row_rejected',
      `The store refused this record (${type}). Sending it again will not help.`,
      {
        cause: error,
      },
    );
  }
  if (type !== undefined && OVERLOAD_FAULTS.has(type)) {
    return new RequestError('overloaded', 'The store took too long to answer.', { cause: error });
  }
  return new RequestError('store_unavailable', 'The store did not answer. Try again.', { cause: error });
}
