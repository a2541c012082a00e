import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { MIMEType, promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import type { BoundedQueue } from '../bounded-queue.ts';
import { RequestError } from '../errors.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import { createSlices, discardRest } from './slices.ts';
import { withoutSecrets } from './without-secrets.ts';
import { ZstdFrames } from './zstd-frames.ts';

const CONTENT_TYPE_CHARS_MAX = 256;
type Compression = 'gzip' | 'zstd';
const DECOMPRESS = { gzip: promisify(gunzip), zstd: promisify(zstdDecompress) };
/** The highest ratio of compressed to inflated bytes: each flush of a compressor adds a few bytes (RFC 1951 section 3.2.4, RFC 8878). */
export const COMPRESSED_RATIO_MAX = 4;

/**
 * Reads a JSON body of at most 1 MiB, inflated, as text, and parses it. Not express.json, because handlers need the exact text (numbers
 * digit for digit), and because every refusal has a code of its own. Throws body_invalid, body_too_large or overloaded.
 */
export async function readBody<T>(
  req: IncomingMessage,
  { arriving, parse }: { arriving: ArrivingBytes; parse: (text: string) => T },
): Promise<T> {
  mediaTypeOf(req, JSON_ONLY);
  const encoding = encodingOf(req);
  const isPlain = encoding === 'identity';
  const bytesMax = BODY_BYTES_MAX * (isPlain ? 1 : COMPRESSED_RATIO_MAX);
  const raw = await readBytes(req, { bytesMax, arriving });
  const requireCaller = () => {
    if (req.socket.destroyed) throw endedEarly();
  };
  const inflate = () => {
    requireCaller();
    return decompress(raw, encoding as Compression);
  };
  if (isPlain && raw.length <= arriving.plainBytesMax) return parse(textOf(raw));
  const signal = AbortSignal.timeout(arriving.turnsMsMax);
  const bytes = isPlain
    ? raw
    : await inTurn(arriving, { bytes: raw.length, queue: 'heavy', work: inflate, signal });
  if (bytes.length <= arriving.plainBytesMax) return parse(textOf(bytes));
  const parseLarge = async () => {
    await setImmediate();
    requireCaller();
    return parse(textOf(bytes));
  };
  return inTurn(arriving, { bytes: bytes.length, queue: 'large', work: parseLarge, signal });
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw notUtf8('body');
  return bytes.toString('utf8');
}

const JSON_ONLY = ['application/json'] as const;

/**
 * Which of these media types the body has. Parameters have no effect (RFC 8259 section 11), except a charset that names
 * another encoding. Throws body_invalid.
 */
export function mediaTypeOf<T extends string>(req: IncomingMessage, allowed: readonly T[]): T {
  const contentType = req.headers['content-type'] ?? '';
  const found = allowed.find((type) => type === contentType) ?? parsedType(contentType, allowed);
  if (found !== undefined) return found;
  const message = `must be ${allowed.join(' or ')}, not ${withoutSecrets(contentType) || 'absent'}`;
  throw headerInvalid('Content-Type', message);
}

function parsedType<T extends string>(contentType: string, allowed: readonly T[]): T | undefined {
  // MIMEType takes quadratic time on long values.
  if (contentType.length > CONTENT_TYPE_CHARS_MAX) return undefined;
  try {
    const { essence, params } = new MIMEType(contentType);
    if (!/^utf-?8$/i.test(params.get('charset') ?? 'utf-8')) return undefined;
    return allowed.find((type) => type === essence);
  } catch {
    // Not a media type. The problem tells the caller which one to send.
    return undefined;
  }
}

/** Throws body_invalid. */
export function encodingOf(req: IncomingMessage): 'identity' | Compression {
  const given = req.headers['content-encoding']?.trim() ?? '';
  // An empty header names no encoding (RFC 9110 section 8.4).
  const encoding = given.toLowerCase() || 'identity';
  if (encoding === 'identity' || encoding === 'gzip' || encoding === 'zstd') return encoding;
  throw headerInvalid('Content-Encoding', `must be gzip, zstd or absent, not ${withoutSecrets(given)}`);
}

function headerInvalid(path: string, message: string): RequestError {
  return new RequestError('body_invalid', `${path} ${message}`, { errors: [{ path, message }] });
}

/**
 * Bytes of bodies that are still arriving, or wait to be inflated and parsed: a slow caller keeps them in memory for as long as a request
 * may take. Compressed bodies take turns, because a hundred bytes may become 1 MiB. Bodies with more than plainBytesMax inflated bytes are
 * parsed one per turn of the event loop.
 */
export type ArrivingBytes = {
  count: number;
  readonly max: number;
  readonly plainBytesMax: number;
  /** How long a body waits for all of its turns together. */
  readonly turnsMsMax: number;
  readonly heavy: BoundedQueue;
  readonly large: BoundedQueue;
};

function readBytes(
  req: IncomingMessage,
  { bytesMax, arriving }: { bytesMax: number; arriving: ArrivingBytes },
): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) return Promise.reject(tooLarge('body'));
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    const slice = createSlices(req);
    let bytes = 0;
    let counted = 0;
    const release = () => {
      arriving.count -= counted;
      counted = 0;
    };
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      counted += chunk.length;
      arriving.count += chunk.length;
      if (bytes > bytesMax || arriving.count > arriving.max) {
        discardRest(req);
        gathered.take();
        release();
        reject(bytes > bytesMax ? tooLarge('body') : tooMuchArriving());
      } else slice(() => gathered.add(chunk));
    });
    req.on('end', () => {
      release();
      resolve(gathered.take());
    });
    // The caller has disconnected. Nobody receives this error, but the handler must not wait forever.
    const endEarly = () => {
      release();
      if (!req.complete) reject(endedEarly());
    };
    req.on('error', endEarly).on('close', endEarly);
  });
}

type Turn<T> = { bytes: number; queue: 'heavy' | 'large'; work: () => Promise<T>; signal: AbortSignal };

async function inTurn<T>(arriving: ArrivingBytes, { bytes, queue, work, signal }: Turn<T>): Promise<T> {
  arriving.count += bytes;
  try {
    return await arriving[queue].run(work, { signal });
  } finally {
    arriving.count -= bytes;
  }
}

/** The result of zlib with the option `info`. */
type Inflated = { buffer: Buffer; engine: { bytesWritten: number } };

async function decompress(raw: Buffer, encoding: Compression): Promise<Buffer> {
  try {
    const options = { maxOutputLength: BODY_BYTES_MAX, info: true };
    const { buffer, engine } = (await DECOMPRESS[encoding](raw, options)) as unknown as Inflated;
    const isWhole = encoding === 'gzip' || engine.bytesWritten === raw.length;
    return isWhole ? buffer : await inflateFrames(raw);
  } catch (error) {
    if (error instanceof RequestError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge('body');
    throw badCompression(encoding, error);
  }
}

/** Node's zstdDecompress ignores what follows the first frame. */
async function inflateFrames(raw: Buffer): Promise<Buffer> {
  const frames = new ZstdFrames().end(raw);
  const gathered = new GatheredBytes();
  let bytes = 0;
  for await (const chunk of frames as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw tooLarge('body');
    gathered.add(chunk);
  }
  return gathered.take();
}

export function badCompression(encoding: Compression, cause: unknown): RequestError {
  return new RequestError('body_invalid', `The body is not valid ${encoding}`, { cause });
}

export function notUtf8(what: 'body' | 'event'): RequestError {
  return new RequestError('body_invalid', `The ${what} is not valid UTF-8`);
}

export function endedEarly(): RequestError {
  return new RequestError('body_invalid', 'The connection closed before the body ended');
}

export function tooMuchArriving(): RequestError {
  return new RequestError('overloaded', 'Too many bodies are arriving at the same time. Try again.');
}

export function tooLarge(what: 'body' | 'event'): RequestError {
  return new RequestError('body_too_large', `The ${what} has more than ${BODY_BYTES_MAX} bytes`);
}
