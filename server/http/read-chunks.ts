import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createGunzip, type ZstdOptions } from 'node:zlib';
import { RequestError } from '../errors.ts';
import { BATCH_BYTES_MAX } from '../limits.ts';
import {
  type ArrivingBytes,
  badCompression,
  COMPRESSED_RATIO_MAX,
  encodingOf,
  endedEarly,
  tooMuchArriving,
} from './read-body.ts';
import { createSlices, discardRest } from './slices.ts';
import { ZstdFrames } from './zstd-frames.ts';

const INFLATE = { gzip: createGunzip, zstd: (options: ZstdOptions) => new ZstdFrames(options) };
const CHUNK_BYTES = 64 * 1024;

/**
 * Calls `onChunk` with each piece of a body of at most 8 MiB, inflated, as it arrives. Rejects with an error that `onChunk` throws, and
 * with body_invalid, batch_too_large or overloaded.
 */
export function readChunks(
  req: IncomingMessage,
  arriving: ArrivingBytes,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  const encoding = encodingOf(req);
  const isPlain = encoding === 'identity';
  const rawBytesMax = BATCH_BYTES_MAX * (isPlain ? 1 : COMPRESSED_RATIO_MAX);
  if (Number(req.headers['content-length'] ?? 0) > rawBytesMax) return Promise.reject(tooManyBytes());
  const inflate: Transform | undefined = isPlain ? undefined : INFLATE[encoding]({ chunkSize: CHUNK_BYTES });
  const source: Readable = inflate ?? req;
  return new Promise((resolve, reject) => {
    let [rawBytes, bytes] = [0, 0];
    const end = () => {
      arriving.count -= bytes;
      bytes = 0;
    };
    const fail = (error: unknown) => {
      end();
      source.removeAllListeners('data');
      inflate?.destroy();
      discardRest(req.unpipe());
      reject(error);
    };
    const slice = createSlices(source);
    source.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      arriving.count += chunk.length;
      if (bytes > BATCH_BYTES_MAX) return fail(tooManyBytes());
      if (arriving.count > arriving.max) return fail(tooMuchArriving());
      try {
        slice(() => onChunk(chunk));
      } catch (error) {
        fail(error);
      }
    });
    source.on('end', () => {
      end();
      resolve();
    });
    // The caller has disconnected. Nobody receives this error, but the handler must not wait forever.
    const endEarly = () => {
      if (!req.complete) fail(endedEarly());
    };
    req.on('error', endEarly).on('close', endEarly);
    if (inflate === undefined || isPlain) return;
    inflate.on('error', (error) => fail(badCompression(encoding, error)));
    req.on('data', (chunk: Buffer) => {
      rawBytes += chunk.length;
      if (rawBytes > rawBytesMax) fail(tooManyBytes());
    });
    req.pipe(inflate);
  });
}

function tooManyBytes(): RequestError {
  return batchTooLarge(`${BATCH_BYTES_MAX} bytes`);
}

export function batchTooLarge(bound: string): RequestError {
  return new RequestError('batch_too_large', `The batch has more than ${bound}`);
}
