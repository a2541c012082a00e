import type { FileHandle } from 'node:fs/promises';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { Filter, GrowingFilter } from './bloom-filter.ts';
import { type IdentityFilter, FILTER_SIZES, type SavedFilter } from './identity-filter.ts';
import type { Stream } from './identity.ts';

/**
 * The file is: 8 bytes of MAGIC; the length of the header, 32 bits, little-endian; the header, JSON; the CRC-32 of all that, 32 bits,
 * little-endian; the words of each filter; the CRC-32 of all that.
 */
const MAGIC = Buffer.from('GATEBLM\n');
/** Must be incremented when the hash, the probes, or the layout of a filter or of the file changes. */
export const FILTER_FILE_VERSION = 5;
const START_BYTES = MAGIC.length + 4;
const HEADER_BYTES_MAX = 1024 * 1024;
const CRC_BYTES = 4;
/** How many bytes are written, read and added to the checksum at a time: less than a millisecond. */
const CHUNK_BYTES = 1024 * 1024;
/** How many bytes are written before a sync, so that an insert waits a third as long for the disk: docs/storage.md. */
const SYNC_BYTES = 16 * CHUNK_BYTES;

/** The state of the store, by position: see events_state.sql. */
export type EventsState = Record<string, string>;
/** Of the filter or the process that reads it: the stream, the state of the store and the time of the clock. */
type Belonging = { stream: Stream; state: EventsState; nowMs: number };
type Header = {
  version: number;
  endianness: string;
  stream: Stream;
  filled_at_ms: number;
  saved_at_ms: number;
  filters: { keys_max: number; keys: number }[];
  state: EventsState;
};

/** The reason why a file is not used, as the end of a sentence. */
export class FilterFileError extends Error {}

/** Writes a complete filter, to which others may add at the same time. Rejects when the signal aborts. */
export async function writeFilterFile(
  file: FileHandle,
  { filter, filledAtMs }: IdentityFilter,
  { stream, state, nowMs, signal }: Belonging & { signal: AbortSignal },
): Promise<void> {
  const header: Header = {
    version: FILTER_FILE_VERSION,
    endianness: endianness(),
    stream,
    filled_at_ms: filledAtMs ?? nowMs,
    saved_at_ms: nowMs,
    filters: filter.filters.map(({ keysMax, keys }) => ({ keys_max: keysMax, keys })),
    state,
  };
  const text = Buffer.from(JSON.stringify(header));
  // A copy, because keys added to the filter during the write would make the checksum wrong. One copy for all chunks: allocating one for
  // each takes 25 times as long.
  const copy = new Uint8Array(CHUNK_BYTES);
  const head = Buffer.concat([MAGIC, uint32(text.length), text]);
  let crc = 0;
  let written = 0;
  for (const part of [head, uint32(crc32(head)), ...filter.filters.map(bytesOf)].flatMap(chunksOf)) {
    signal.throwIfAborted();
    copy.set(part);
    const chunk = copy.subarray(0, part.length);
    crc = crc32(chunk, crc);
    await writeAll(file, chunk);
    written += part.length;
    if (written < SYNC_BYTES) continue;
    await file.datasync();
    written = 0;
  }
  await writeAll(file, uint32(crc));
}

/** A file with a valid header. `readFilter` throws FilterFileError unless the rest is valid. */
type FilterFile = Omit<SavedFilter, 'filter'> & {
  savedAtMs: number;
  keys: number;
  readFilter: (signal: AbortSignal) => Promise<GrowingFilter>;
};

type Reader = Belonging & { isFinal: boolean; ageMsMax: number };

/**
 * Opens the file of a filter. A final one, see Handover, has all identities of the store; any other lacks those of later blocks. Throws
 * FilterFileError unless it belongs to this store.
 */
export async function openFilterFile(file: FileHandle, reader: Reader): Promise<FilterFile> {
  const { size } = await file.stat();
  const start = await readAll(file, Buffer.alloc(START_BYTES));
  if (!start.subarray(0, MAGIC.length).equals(MAGIC)) throw new FilterFileError('it is not a filter');
  const length = start.readUInt32LE(MAGIC.length);
  if (length > HEADER_BYTES_MAX) throw new FilterFileError('its header is damaged');
  const text = await readAll(file, Buffer.alloc(length));
  const headCrc = await readAll(file, Buffer.alloc(CRC_BYTES));
  const crcOfHead = crc32(text, crc32(start));
  if (headCrc.readUInt32LE() !== crcOfHead) throw new FilterFileError('its header is damaged');
  const header = headerFrom(text);
  checkBelonging(header, reader);
  checkSizes(header, size - START_BYTES - length - 2 * CRC_BYTES);
  const readFilter = async (signal: AbortSignal) => {
    const filters = header.filters.map(({ keys_max, keys }) => new Filter(keys_max, keys));
    let crc = crc32(headCrc, crcOfHead);
    for (const chunk of filters.map(bytesOf).flatMap(chunksOf)) {
      signal.throwIfAborted();
      crc = crc32(await readAll(file, chunk), crc);
    }
    const stored = await readAll(file, Buffer.alloc(CRC_BYTES));
    if (stored.readUInt32LE() !== crc) throw new FilterFileError('its checksum is wrong');
    return new GrowingFilter(FILTER_SIZES, filters);
  };
  const { filled_at_ms: filledAtMs, saved_at_ms: savedAtMs } = header;
  const lacks = reader.isFinal ? undefined : { afterMs: savedAtMs, afterBlock: newestBlockOf(header) };
  const keys = header.filters.reduce((sum, filter) => sum + filter.keys, 0);
  return { filledAtMs, savedAtMs, lacks, keys, readFilter };
}

function headerFrom(text: Buffer): Header {
  try {
    const header = JSON.parse(text.toString()) as Header;
    // Of another version it may have another shape.
    if (Number.isSafeInteger(header.version) && header.version !== FILTER_FILE_VERSION) return header;
    const { version, filters, filled_at_ms, saved_at_ms, state } = header;
    const sizes = filters.flatMap(({ keys_max, keys }) => [keys_max, keys]);
    const isWhole = [version, filled_at_ms, saved_at_ms, ...sizes].every(
      (number) => Number.isSafeInteger(number) && number >= 0,
    );
    if (isWhole && filters.length > 0 && state instanceof Object) return header;
  } catch {
    // Not JSON, or of another shape.
  }
  throw new FilterFileError('its header is damaged');
}

/**
 * A final filter must know all blocks that the store has; blocks that have expired since may be missing. Any other filter must have been
 * saved from this very table of identities, and must not be ahead of it.
 */
function checkBelonging(header: Header, { stream, state, nowMs, isFinal, ageMsMax }: Reader) {
  if (header.version !== FILTER_FILE_VERSION) throw new FilterFileError('it has another version');
  if (header.endianness !== endianness()) throw new FilterFileError('it has another byte order');
  if (header.stream !== stream) throw new FilterFileError('it belongs to the other stream');
  const { filled_at_ms: filled, saved_at_ms: saved } = header;
  if (filled > saved || saved > nowMs) throw new FilterFileError('the clock was set back');
  if (nowMs - filled > ageMsMax) throw new FilterFileError('it is too old');
  if (!isFinal) {
    const saved = identitiesIn(header.state);
    // An empty table belongs to every store.
    if (saved.length === 0) throw new FilterFileError('it was saved for an empty store');
    for (const [place, newest] of saved)
      if (!(Number(state[place]) >= Number(newest)))
        throw new FilterFileError('the store is older, or it is another store');
    return;
  }
  for (const [place, newest] of Object.entries(state))
    if (header.state[place] !== newest) throw new FilterFileError('the store was written to since');
}

/** The blocks of a table are numbered in the order in which they are written, across all partitions. */
function newestBlockOf({ state }: Header): number {
  return Math.max(0, ...identitiesIn(state).map(([, newest]) => Number(newest)));
}

function identitiesIn(state: EventsState): [string, string][] {
  return Object.entries(state).filter(([place]) => place.startsWith('event_identities '));
}

/** The filters must fill the file exactly. */
function checkSizes({ filters }: Header, bytes: number): void {
  const { keysFirst, bytesMax } = FILTER_SIZES;
  const areRight = filters.every(({ keys_max, keys }) => keys_max >= keysFirst && keys <= keys_max);
  const sizes = filters.map(({ keys_max }) => Filter.bytesFor(keys_max));
  if (!areRight || bytes > bytesMax || sizes.reduce((sum, size) => sum + size, 0) !== bytes)
    throw new FilterFileError('its size is wrong');
}

function bytesOf({ words }: Filter): Uint8Array {
  return new Uint8Array(words.buffer);
}

function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

async function readAll<Bytes extends Uint8Array>(file: FileHandle, bytes: Bytes): Promise<Bytes> {
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await file.read(bytes, at);
    if (bytesRead === 0) throw new FilterFileError('it is cut off');
    at += bytesRead;
  }
  return bytes;
}
