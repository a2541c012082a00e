import { millisecondsOf } from './times.ts';

/** The fields of a record that a verifier reads. Times in milliseconds since the epoch. */
export type RecordFields = { event_id: string; occurredMs: number; receivedMs: number };

const HEAD =
  /^\{"event_id":"([0-9a-f-]{36})","occurred_at":"((?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"$/;
const TAIL = /^,"received_at":"((?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"\}$/;
const HEAD_BYTES = 91;
const TAIL_BYTES = 42;

/** The fields of a line of an export, which are at fixed places; undefined for a line that no record has. */
export function fieldsOfLine(line: Buffer): RecordFields | undefined {
  if (line.length < HEAD_BYTES + TAIL_BYTES) return undefined;
  const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES));
  const tail = TAIL.exec(line.toString('latin1', line.length - TAIL_BYTES));
  const [event_id, occurredMs, receivedMs] = [
    head?.[1],
    millisecondsOf(head?.[2] ?? ''),
    millisecondsOf(tail?.[1] ?? ''),
  ];
  if (event_id === undefined || Number.isNaN(occurredMs) || Number.isNaN(receivedMs)) return undefined;
  return { event_id, occurredMs, receivedMs };
}
