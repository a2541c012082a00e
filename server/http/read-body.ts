import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MIMEType, promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { RequestError } from '../errors.ts';

const unzip = promisify(gunzip);
const CONTENT_TYPE_CHARS_MAX = 256;
/** What cannot be compressed grows: by its head and tail, and five bytes for each 16 KiB or more (RFC 1951, 3.2.4). */
const GZIP_EXTRA_BYTES_MAX = 1024;

/**
 * Reads the text of a JSON body of at most `bytesMax` bytes, inflated. By hand and not express.json, because the exact
 * text is needed (numbers digit for digit), and because every refusal has its own code here.
 * Throws body_invalid or body_too_large.
 */
export async function readJsonText(req: IncomingMessage, bytesMax: number): Promise<string> {
  if (!isJson(req.headers['content-type'] ?? '')) {
    throw new RequestError('body_invalid', 'Content-Type must be application/json', {
      errors: [
        {
          path: 'Content-Type',
          message: `must be application/json, not ${req.headers['content-type'] ?? 'absent'}`,
        },
      ],
    });
  }
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new RequestError('body_invalid', 'Content-Encoding must be gzip or absent', {
      errors: [{ path: 'Content-Encoding', message: `must be gzip, not ${encoding}` }],
    });
  }
  const isGzip = encoding === 'gzip';
  const raw = await readBytes(req, bytesMax, isGzip ? GZIP_EXTRA_BYTES_MAX : 0);
  const bytes = isGzip ? await inflate(raw, bytesMax) : raw;
  if (!isUtf8(bytes)) throw new RequestError('body_invalid', 'The body is not valid UTF-8');
  return bytes.toString('utf8');
}

/** Its parameters mean nothing (RFC 8259 section 11), but who says that the charset is another is believed. */
function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  // The parser takes its time over a long one, in the square of its length.
  if (contentType.length > CONTENT_TYPE_CHARS_MAX) return false;
  try {
    const { essence, params } = new MIMEType(contentType);
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    // No media type at all: the caller says what would be one.
    return false;
  }
}

/** `extra`: what may come above the bound, which the refusal names all the same. */
function readBytes(req: IncomingMessage, bytesMax: number, extra: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > bytesMax + extra)
    return Promise.reject(tooLarge(bytesMax));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax + extra) {
        // The rest is read and thrown away, so that the caller gets its answer instead of a reset.
        req.removeAllListeners('data').resume();
        reject(tooLarge(bytesMax));
      } else chunks.push(chunk);
    });
    req.on('end', () => {
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, bytes));
    });
    // The caller is gone; what is thrown here reaches nobody, but the handler must not wait for ever.
    const endEarly = () => {
      if (!req.complete) reject(new RequestError('body_invalid', 'The body ended before its time'));
    };
    req.on('error', endEarly).on('close', endEarly);
  });
}

async function inflate(raw: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await unzip(raw, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(bytesMax);
    throw new RequestError('body_invalid', 'The body is not valid gzip', { cause: error });
  }
}

function tooLarge(bytesMax: number): RequestError {
  return new RequestError('body_too_large', `The body has more than ${bytesMax} bytes`);
}
