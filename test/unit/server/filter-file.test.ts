import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  type EventsState,
  FilterFileError,
  openFilterFile,
  writeFilterFile,
} from '../../../server/commit/filter-file.ts';
import { GrowingFilter } from '../../../server/commit/bloom-filter.ts';
import { FILTER_SIZES, IdentityFilter } from '../../../server/commit/identity-filter.ts';
import type { Stream } from '../../../server/commit/identity.ts';
import { Handover } from '../../../server/store/handover.ts';
import { temporaryDirectory } from '../../support/service.ts';

const NOW_MS = Date.UTC(2026, 0, 31);
const FILLED_MS = NOW_MS - 1000;
const AGE_MS_MAX = 5000;
const NEVER = new AbortController().signal;
const NAME = 'identities-decisions';
const STATE = { 'decisions a 20260101': '7', 'decisions a 20260102': '9', 'event_identities b all': '12' };
/** The magic and the length of the header. */
const START_BYTES = 12;
const CRC_BYTES = 4;

const pairs = Array.from({ length: 1000 }, () => ({ project_id: randomUUID(), event_id: randomUUID() }));

function filledFilter(): IdentityFilter {
  const saved = { filter: new GrowingFilter(FILTER_SIZES), filledAtMs: FILLED_MS };
  const filter = new IdentityFilter(saved);
  for (const pair of pairs) filter.add(pair);
  return filter;
}

type Reader = { stream?: Stream; state?: EventsState; nowMs?: number; isFinal?: boolean };

/** Leaves these bytes and reads them like the next process. Resolves with the filter, or the reason why it is not used. */
async function readBack(bytes: Buffer, reader: Reader = {}): Promise<IdentityFilter | string> {
  const dataDir = temporaryDirectory();
  const path = join(dataDir, NAME);
  writeFileSync(path, bytes);
  const file = await open(path);
  const asked = {
    stream: 'decisions' as const,
    state: STATE,
    nowMs: NOW_MS,
    isFinal: true,
    ageMsMax: AGE_MS_MAX,
  };
  try {
    const { readFilter, ...saved } = await openFilterFile(file, { ...asked, ...reader });
    return new IdentityFilter({ filter: await readFilter(NEVER), ...saved });
  } catch (error) {
    if (error instanceof FilterFileError) return error.message;
    throw error;
  } finally {
    await file.close();
  }
}

describe('the file of an identity filter', () => {
  const filter = filledFilter();
  let saved: Buffer;
  let headerEnd: number;
  before(async () => {
    const dataDir = temporaryDirectory();
    const handover = new Handover(dataDir);
    const belonging = { stream: 'decisions' as const, state: STATE, nowMs: NOW_MS, signal: NEVER };
    await handover.leave(NAME, (file) => writeFilterFile(file, filter, belonging), {
      isFinal: true,
      signal: NEVER,
    });
    const path = join(dataDir, `handover-${NAME}`);
    saved = readFileSync(path);
    headerEnd = START_BYTES + saved.readUInt32LE(START_BYTES - 4);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(readdirSync(dataDir)).to.have.length(1);
  });

  /** The file with another header and matching checksums. */
  function withHeader(change: (header: Record<string, unknown>) => void): Buffer {
    const header = JSON.parse(saved.toString('utf8', START_BYTES, headerEnd)) as Record<string, unknown>;
    change(header);
    const text = Buffer.from(JSON.stringify(header));
    const start = Buffer.from(saved.subarray(0, START_BYTES));
    start.writeUInt32LE(text.length, START_BYTES - 4);
    const crc = Buffer.alloc(CRC_BYTES);
    crc.writeUInt32LE(crc32(text, crc32(start)));
    const whole = Buffer.concat([start, text, crc, saved.subarray(headerEnd + CRC_BYTES)]);
    whole.writeUInt32LE(crc32(whole.subarray(0, -4)), whole.length - 4);
    return whole;
  }

  it('gives back the same filter', async () => {
    const read = await readBack(saved);
    if (typeof read === 'string') throw new Error(read);

    expect(pairs.every((pair) => read.mayHave(pair))).to.equal(true);
    expect([read.isComplete, read.filter.keys, read.filledAtMs]).to.deep.equal([true, 1000, FILLED_MS]);
    expect(read.filter.filters.map(({ words }) => words)).to.deep.equal(
      filter.filter.filters.map(({ words }) => words),
    );
    const others = pairs.map(({ project_id }) => ({ project_id, event_id: randomUUID() }));
    expect(others.filter((pair) => read.mayHave(pair)).length).to.be.below(20);
  });

  it('is not used with one bit flipped, wherever it is', async function () {
    this.timeout(20_000);
    const last = saved.length - 1;
    const inside = Array.from({ length: 12 }, (_, i) => headerEnd + i * Math.floor((last - headerEnd) / 12));
    const head = Array.from({ length: headerEnd + CRC_BYTES }, (_, at) => at);
    for (const at of [...head, ...inside, last - 3, last - 2, last - 1, last]) {
      const bytes = Buffer.from(saved);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      expect(await readBack(bytes), `byte ${at}`).to.be.a('string');
    }
  });

  it('is not used when it is cut off or has more at its end', async () => {
    const cuts = [
      0,
      1,
      START_BYTES - 1,
      START_BYTES,
      headerEnd - 1,
      headerEnd,
      headerEnd + 1,
      headerEnd + CRC_BYTES,
      saved.length - 1,
    ];
    for (const cut of cuts) expect(await readBack(saved.subarray(0, cut)), `${cut}`).to.be.a('string');
    expect(await readBack(Buffer.concat([saved, Buffer.alloc(1)]))).to.equal('its size is wrong');
  });

  it('is not used with another header, even if the checksums are correct', async () => {
    const filters = (one: object) => ({
      filters: [{ keys_max: FILTER_SIZES.keysFirst, keys: 1000, ...one }],
    });
    const changes: [Record<string, unknown>, string][] = [
      [{ version: 1 }, 'it has another version'],
      [{ version: 1, saved_at_ms: undefined }, 'it has another version'],
      [{ version: '1' }, 'its header is damaged'],
      [{ endianness: 'BE' }, 'it has another byte order'],
      [{ stream: 'llm_invocations' }, 'it belongs to the other stream'],
      [{ filled_at_ms: NOW_MS + 1 }, 'the clock was set back'],
      [{ saved_at_ms: NOW_MS + 1 }, 'the clock was set back'],
      [{ filled_at_ms: NOW_MS - AGE_MS_MAX - 1 }, 'it is too old'],
      [filters({ keys_max: 2 * FILTER_SIZES.keysFirst }), 'its size is wrong'],
      [filters({ keys_max: FILTER_SIZES.keysFirst - 1 }), 'its size is wrong'],
      [filters({ keys: FILTER_SIZES.keysFirst + 1 }), 'its size is wrong'],
      [filters({ keys: -1 }), 'its header is damaged'],
      [{ filters: [] }, 'its header is damaged'],
      [{ filters: null }, 'its header is damaged'],
      [{ state: null }, 'its header is damaged'],
      [{ state: {} }, 'the store was written to since'],
      [{ state: { ...STATE, 'decisions a 20260102': '8' } }, 'the store was written to since'],
    ];
    for (const [change, reason] of changes)
      expect(await readBack(withHeader((header) => Object.assign(header, change)))).to.equal(reason);
    expect(await readBack(withHeader(() => undefined))).to.be.an.instanceOf(IdentityFilter);
  });

  it('is used after expiry dropped a partition, and never after a write', async () => {
    const { 'decisions a 20260101': _expired, ...left } = STATE;
    const states: [EventsState, boolean][] = [
      [left, true],
      [{}, true],
      [{ ...STATE, 'decisions a 20260102': '10' }, false],
      [{ ...STATE, 'decisions a 20260103': '10' }, false],
      [{ ...STATE, 'event_identities b all': '13' }, false],
      [{ 'event_identities restored all': '12' }, false],
    ];
    for (const [state, isUsed] of states)
      expect(typeof (await readBack(saved, { state })) !== 'string', JSON.stringify(state)).to.equal(isUsed);
  });

  it('that may be behind is used, incomplete, unless the table of identities differs or is older', async () => {
    const isFinal = false;
    const later = { ...STATE, 'decisions a 20260103': '10', 'event_identities b all': '13' };
    for (const state of [STATE, later]) {
      const read = await readBack(saved, { state, isFinal });
      if (typeof read === 'string') throw new Error(read);
      expect([read.isComplete, read.filter.keys]).to.deep.equal([false, 1000]);
      expect(read.lacks).to.deep.equal({ afterMs: NOW_MS, afterBlock: 12 });
    }
    const { 'event_identities b all': _identities, ...without } = STATE;
    const restored = { ...without, 'event_identities restored all': '12' };
    for (const state of [without, restored, { ...STATE, 'event_identities b all': '11' }])
      expect(await readBack(saved, { state, isFinal })).to.equal(
        'the store is older, or it is another store',
      );
    const ofNothing = withHeader((header) => Object.assign(header, { state: {} }));
    expect(await readBack(ofNothing, { isFinal })).to.equal('it was saved for an empty store');
  });

  it('is not used for the other stream, or by a clock that is behind', async () => {
    expect(await readBack(saved, { stream: 'llm_invocations' })).to.equal('it belongs to the other stream');
    expect(await readBack(saved, { nowMs: NOW_MS - 1 })).to.equal('the clock was set back');
  });
});
