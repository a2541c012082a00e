import { expect } from 'chai';
import { buffer } from 'node:stream/consumers';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { accepted, invalid, outcomeOf } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { codeOf, exchange, head } from '../support/raw-http.ts';
import { useSharedService } from '../support/shared-service.ts';

const BODY_BYTES_MAX = 1024 * 1024;
const tooLarge = { status: 413, code: 'body_too_large' };

/** A valid event followed by white space, up to this many bytes. */
function eventOf(bytes: number): string {
  return JSON.stringify(decisionEvent()).padEnd(bytes, ' ');
}

/** Like a sender that flushes its compressor after every few bytes: twice as many bytes as inflated. */
async function flushedOften(text: string): Promise<Buffer> {
  const gzip = createGzip({ level: 0, flush: constants.Z_SYNC_FLUSH });
  const bytes = buffer(gzip);
  for (let at = 0; at < text.length; at += 16) gzip.write(text.slice(at, at + 16));
  gzip.end();
  return bytes;
}

describe('the body of an ingest request', () => {
  const service = useSharedService();

  const withKey = (more: Record<string, string> = {}) => ({
    Authorization: `Bearer ${service.key}`,
    'Content-Type': 'application/json',
    ...more,
  });

  async function send(body: string | Buffer, more: Record<string, string> = {}) {
    const url = `${service.url}/v1/audit/decisions`;
    return outcomeOf(await fetch(url, { method: 'POST', headers: withKey(more), body: Buffer.from(body) }));
  }

  it('may be application/json in any case, with or without a charset', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json ; charset=utf-8',
      'application/json; charset=utf8',
      'application/json;',
      'application/json; profile=x',
      'application/json; charset=utf-8; profile="x; charset=y"',
    ]) {
      expect(await send(eventOf(0), { 'Content-Type': type }), type).to.deep.equal(accepted);
    }
  });

  it('is 422 with another content type', async () => {
    const types = [
      'text/plain',
      'text/json',
      'application/jsonp',
      'application/json; charset=latin1',
      'application/json; profile=x; charset="utf-16"',
      'application/json charset=utf-8',
      'application/xjson',
      'application/x-www-form-urlencoded',
      'json',
      '',
    ];
    for (const type of types)
      expect(await send(eventOf(0), { 'Content-Type': type }), type).to.deep.equal(invalid);
  });

  it('is 422 without a content type', async () => {
    const body = eventOf(0);
    const headers = {
      Authorization: `Bearer ${service.key}`,
      'Content-Length': Buffer.byteLength(body),
    };

    const answer = await exchange(service.url, head('/v1/audit/decisions', headers), body);

    expect(codeOf(answer)).to.deep.equal([422, 'body_invalid']);
  });

  it('is 422 when it is missing', async () => {
    for (const more of [{}, { 'Content-Length': '0' }]) {
      const answer = await exchange(service.url, head('/v1/audit/decisions', withKey(more)));

      expect(codeOf(answer)).to.deep.equal([422, 'body_invalid']);
    }
  });

  it('is 422 when it is not UTF-8', async () => {
    const [start, end] = eventOf(0).split('hello');
    for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from(start ?? ''), Buffer.from(bytes), Buffer.from(end ?? '')]);

      expect(await send(body), String(bytes)).to.deep.equal(invalid);
    }
  });

  it('may have 1 MiB', async () => {
    expect(await send(eventOf(BODY_BYTES_MAX))).to.deep.equal(accepted);
    // Level 0: more bytes than inflated.
    for (const level of [6, 0]) {
      const gzipped = gzipSync(eventOf(BODY_BYTES_MAX), { level });
      expect(await send(gzipped, { 'Content-Encoding': 'gzip' }), `${level}`).to.deep.equal(accepted);
    }
    expect(
      await send(await flushedOften(eventOf(BODY_BYTES_MAX)), { 'Content-Encoding': 'gzip' }),
    ).to.deep.equal(accepted);
  });

  it('is 413 over 1 MiB, whether or not it is JSON', async () => {
    expect(await send(eventOf(BODY_BYTES_MAX + 1))).to.deep.equal(tooLarge);
    expect(await send('{'.repeat(BODY_BYTES_MAX + 1))).to.deep.equal(tooLarge);
  });

  it('is 413 over 1 MiB without a length', async () => {
    const headers = withKey({ 'Transfer-Encoding': 'chunked' });
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;

    const answer = await exchange(
      service.url,
      head('/v1/audit/decisions', headers),
      chunk.repeat(64),
      chunk,
      '0\r\n\r\n',
    );

    expect(codeOf(answer)).to.deep.equal([413, 'body_too_large']);
  });

  it('may arrive in chunks of any size', async () => {
    const headers = withKey({ 'Transfer-Encoding': 'chunked' });
    const chunks = [...Buffer.from(JSON.stringify(decisionEvent({ reason: 'é😀' })))].map((byte) =>
      Buffer.from([0x31, 13, 10, byte, 13, 10]),
    );

    const answer = await exchange(service.url, head('/v1/audit/decisions', headers), ...chunks, '0\r\n\r\n');

    expect(answer.status).to.equal(202);
  });

  it('may be gzip or zstd', async () => {
    expect(await send(gzipSync(eventOf(0)), { 'Content-Encoding': 'gzip' })).to.deep.equal(accepted);
    expect(await send(gzipSync(eventOf(0)), { 'Content-Encoding': 'GZIP' })).to.deep.equal(accepted);
    expect(await send(Buffer.from(eventOf(0)), { 'Content-Encoding': '' })).to.deep.equal(accepted);
    expect(await send(zstdCompressSync(eventOf(0)), { 'Content-Encoding': 'zstd' })).to.deep.equal(accepted);
  });

  it('may be several frames of zstd, of at most 1 MiB together', async () => {
    const text = eventOf(0);
    // RFC 8878 section 3.1.2: a magic number, the size, and what a decoder skips.
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]);
    const frames = [
      skippable,
      zstdCompressSync(text.slice(0, 9)),
      zstdCompressSync(text.slice(9)),
      skippable,
    ];
    const spaces = zstdCompressSync(' '.repeat(600_000));
    const sent = (parts: Buffer[]) => send(Buffer.concat(parts), { 'Content-Encoding': 'zstd' });

    expect(await sent(frames)).to.deep.equal(accepted);
    expect(await sent([...frames, spaces])).to.deep.equal(accepted);
    expect(await sent([...frames, spaces, spaces])).to.deep.equal(tooLarge);
  });

  it('in another content encoding is 422', async () => {
    const bodies = {
      deflate: deflateSync(eventOf(0)),
      br: brotliCompressSync(eventOf(0)),
      nonsense: eventOf(0),
      'gzip, gzip': gzipSync(gzipSync(eventOf(0))),
    };
    for (const [encoding, body] of Object.entries(bodies)) {
      expect(await send(body, { 'Content-Encoding': encoding }), encoding).to.deep.equal(invalid);
    }
  });

  it('of broken zstd is 422', async () => {
    const whole = zstdCompressSync(eventOf(0));
    const behind = Buffer.concat([whole, Buffer.from('x')]);
    for (const body of [eventOf(0), whole.subarray(0, whole.length - 9), zstdCompressSync('{'), behind])
      expect(await send(body, { 'Content-Encoding': 'zstd' })).to.deep.equal(invalid);
  });

  it('is 422 with broken gzip', async () => {
    const whole = gzipSync(eventOf(0));
    const flipped = Buffer.from(whole);
    // The first byte of the checksum at its end.
    flipped.writeUInt8(255 - flipped.readUInt8(whole.length - 8), whole.length - 8);
    for (const body of [
      eventOf(0),
      whole.subarray(0, whole.length - 9),
      whole.subarray(0, 5),
      flipped,
      gzipSync('{'),
      gzipSync(''),
    ]) {
      expect(await send(body, { 'Content-Encoding': 'gzip' })).to.deep.equal(invalid);
    }
  });

  it('over 1 MiB when inflated is 413, and a bomb is not inflated', async () => {
    const bomb = Buffer.alloc(40 * 1024 * 1024, 0x20);
    const compressed = { gzip: gzipSync(bomb), zstd: zstdCompressSync(bomb) };
    const startMs = performance.now();

    expect(await send(gzipSync(eventOf(BODY_BYTES_MAX + 1)), { 'Content-Encoding': 'gzip' })).to.deep.equal(
      tooLarge,
    );
    for (const [encoding, body] of Object.entries(compressed))
      expect(await send(body, { 'Content-Encoding': encoding }), encoding).to.deep.equal(tooLarge);
    expect(performance.now() - startMs).to.be.below(1000);
  });
});
