import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { RequestError } from '../errors.ts';
import { parseJson } from '../json.ts';
import { BATCH_EVENTS_MAX, BODY_BYTES_MAX } from '../limits.ts';
import { findMember } from './find-member.ts';
import { isSpace } from './json-bytes.ts';
import { type ArrivingBytes, endedEarly, mediaTypeOf, notUtf8, tooLarge } from './read-body.ts';
import { readChunks, batchTooLarge } from './read-chunks.ts';
import { type OnItem, splitArray, splitLines } from './split-items.ts';

/** An item as it was sent, or the fault for which it alone is refused. A refused item may still have a value. */
export type Item = { value: unknown; text: string; fault: RequestError | undefined };

type ReadItemsOptions = { arriving: ArrivingBytes; onItem: (item: Item) => void };

const LIST_TYPES = ['application/json', 'application/x-ndjson'] as const;

/**
 * Reads a list of items while it arrives, a JSON array or JSON lines, and calls `onItem` for each in order. A line that is not JSON, or an
 * item over 1 MiB, is refused without affecting the others. Throws body_invalid (no list, or an empty one), batch_too_large or overloaded.
 */
export async function readItems(req: IncomingMessage, { arriving, onItem }: ReadItemsOptions): Promise<void> {
  const isLines = mediaTypeOf(req, LIST_TYPES) === 'application/x-ndjson';
  let items = 0;
  const take: OnItem = (chunk, start, end) => {
    const item = end - start > BODY_BYTES_MAX ? longItemFrom(chunk, start, end) : itemFrom(chunk, start, end);
    // An array is invalid JSON if one of its elements is.
    if (!isLines && item.fault?.code === 'body_invalid') throw item.fault;
    onItem(item);
  };
  /** A large item, and all items after it, because the order matters. */
  const later: Buffer[] = [];
  const splitter = (isLines ? splitLines : splitArray)((chunk, start, end) => {
    items += 1;
    if (items > BATCH_EVENTS_MAX) throw batchTooLarge(`${BATCH_EVENTS_MAX} events`);
    if (later.length === 0 && end - start <= arriving.plainBytesMax) take(chunk, start, end);
    else later.push(Buffer.from(chunk.subarray(start, end)));
  });
  await readChunks(req, arriving, (chunk) => {
    if (!splitter.push(chunk)) throw notAnArray();
  });
  if (!splitter.end()) throw notAnArray();
  if (items === 0) throw new RequestError('body_invalid', 'The body has no events');
  if (later.length === 0) return;
  await takeLater(later, arriving, (bytes) => {
    if (req.socket.destroyed) throw endedEarly();
    take(bytes, 0, bytes.length);
  });
}

/** Across all callers, one large item is parsed per turn of the event loop. */
async function takeLater(
  later: readonly Buffer[],
  arriving: ArrivingBytes,
  take: (bytes: Buffer) => void,
): Promise<void> {
  const signal = AbortSignal.timeout(arriving.turnsMsMax);
  const held = later.reduce((sum, { length }) => sum + length, 0);
  arriving.count += held;
  try {
    for (const bytes of later) {
      const inNextTurn = async () => {
        await setImmediate();
        take(bytes);
      };
      if (bytes.length > arriving.plainBytesMax) await arriving.large.run(inNextTurn, { signal });
      else await inNextTurn();
    }
  } finally {
    arriving.count -= held;
  }
}

function itemFrom(chunk: Buffer, start: number, end: number): Item {
  const text = chunk.toString('utf8', start, end);
  try {
    // Only a text with a replacement character may have lost bytes.
    if (text.includes('\ufffd') && !isUtf8(chunk.subarray(start, end))) throw notUtf8('event');
    return { value: parseJson(text), text, fault: undefined };
  } catch (error) {
    return { value: undefined, text, fault: error as RequestError };
  }
}

/**
 * White space around an item does not count. An item that is still too large is not parsed, like a body of that size: only its event_id
 * is searched for, because the answer names it.
 */
function longItemFrom(chunk: Buffer, from: number, to: number): Item {
  let [start, end] = [from, to];
  while (start < end && isSpace(chunk[start] as number)) start += 1;
  while (end > start && isSpace(chunk[end - 1] as number)) end -= 1;
  if (end - start <= BODY_BYTES_MAX) return itemFrom(chunk, start, end);
  const event_id = findMember(chunk.subarray(start, end), 'event_id');
  return { value: { event_id }, text: '', fault: tooLarge('event') };
}

function notAnArray(): RequestError {
  return new RequestError('body_invalid', 'The body is not a JSON array');
}
