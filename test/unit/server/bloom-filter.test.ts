import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { GrowingFilter, isAfter, seedOfText, wordsOfUuid } from '../../../server/commit/bloom-filter.ts';
import { FILTER_FILE_VERSION } from '../../../server/commit/filter-file.ts';

const SEED = seedOfText('project');

/** The same UUIDs in every run. */
function uuidAt(index: number): string {
  const hex = createHash('md5').update(String(index)).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function filterOf(count: number, { keysFirst = 1000, bytesMax = 1024 * 1024 } = {}): GrowingFilter {
  const filter = new GrowingFilter({ keysFirst, bytesMax });
  for (let i = 0; i < count; i += 1) filter.add(SEED, wordsOfUuid(uuidAt(i)));
  return filter;
}

/** How many of the keys from..to the filter may have. */
function knownBetween(filter: GrowingFilter, from: number, to: number, seed = SEED): number {
  let known = 0;
  for (let i = from; i < to; i += 1) if (filter.mayHave(seed, wordsOfUuid(uuidAt(i)))) known += 1;
  return known;
}

describe('GrowingFilter', () => {
  it('has every added key, however often it grew', () => {
    const filter = filterOf(20_000, { keysFirst: 100 });

    expect(knownBetween(filter, 0, 20_000)).to.equal(20_000);
    expect(filter.isComplete).to.equal(true);
  });

  it('has few false positives', () => {
    for (const keysFirst of [20_000, 1000]) {
      expect(knownBetween(filterOf(20_000, { keysFirst }), 20_000, 40_000)).to.be.below(5);
    }
  });

  it('separates the keys of two projects', () => {
    expect(knownBetween(filterOf(10_000), 0, 10_000, seedOfText('another project'))).to.be.below(5);
  });

  it('may have every key beyond bytesMax, and grows no further', () => {
    const filter = filterOf(20_000, { keysFirst: 100, bytesMax: 4096 });

    expect(filter.isComplete).to.equal(false);
    expect(knownBetween(filter, 0, 30_000)).to.equal(30_000);
    expect(filter.bytes).to.be.at.most(4096);
  });

  it('doubles when it is full, up to bytesMax and not a byte beyond', () => {
    const sizeOf = (count: number, bytesMax: number) => {
      const { bytes, isComplete } = filterOf(count, { keysFirst: 96, bytesMax });
      return { bytes, isComplete };
    };

    expect(sizeOf(96, 1152)).to.deep.equal({ bytes: 384, isComplete: true });
    expect(sizeOf(97, 1152)).to.deep.equal({ bytes: 1152, isComplete: true });
    expect(sizeOf(97, 1151)).to.deep.equal({ bytes: 1088, isComplete: true });
    expect(sizeOf(97, 767)).to.deep.equal({ bytes: 0, isComplete: false });
  });

  it('takes its seed by FNV-1a, with the vectors of draft-eastlake-fnv', () => {
    const seeds = ['', 'a', 'foobar'].map((text) => seedOfText(text) >>> 0);

    expect(seeds).to.deep.equal([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
  });

  it('has every key of a page that was added at once, also where it grows in the middle', () => {
    const filter = new GrowingFilter({ keysFirst: 1000, bytesMax: 1024 * 1024 });
    filter.reserve(5000);
    const page = Int32Array.from(Array.from({ length: 7777 }, (_, i) => [...wordsOfUuid(uuidAt(i))]).flat());
    filter.addAll(SEED, page);

    expect([knownBetween(filter, 0, 7777), filter.keys, filter.filters.length]).to.deep.equal([
      7777, 7777, 3,
    ]);
    expect(knownBetween(filter, 7777, 17_777)).to.be.below(5);
  });

  it('holds the bits that belong to its file version: a change of one requires a change of the other', () => {
    const [filter] = filterOf(1000).filters;

    expect([
      FILTER_FILE_VERSION,
      crc32(new Uint8Array(filter?.words.buffer ?? new ArrayBuffer())),
    ]).to.deep.equal([5, 449675711]);
  });

  it('orders UUIDs as ClickHouse does: by their second half, and without a sign', () => {
    const ordered = [
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-0000-000000000001',
      '00000000-0000-0001-0000-000000000002',
      '00000001-0000-0000-0000-000000000002',
      '00000000-0000-0000-7fff-ffffffffffff',
      '00000000-0000-0000-8000-000000000000',
    ].map(wordsOfUuid);

    expect(ordered.toSorted((a, b) => (isAfter(a, b) ? 1 : -1))).to.deep.equal(ordered);
    expect(ordered.map((words) => isAfter(words, words))).to.deep.equal(ordered.map(() => false));
  });

  it('uses all 128 bits of a UUID', () => {
    const zero = wordsOfUuid('00000000-0000-0000-0000-000000000000');
    const bits = Array.from({ length: 32 }, (_, at) => {
      const hex = '0'.repeat(at) + '8' + '0'.repeat(31 - at);
      return [
        ...wordsOfUuid(
          [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-'),
        ),
      ].join();
    });

    expect(zero).to.deep.equal([0, 0, 0, 0]);
    expect(new Set([...bits, [...zero].join()]).size).to.equal(33);
    expect(wordsOfUuid('ffffffff-ffff-ffff-ffff-ffffffffffff')).to.deep.equal([-1, -1, -1, -1]);
  });
});
