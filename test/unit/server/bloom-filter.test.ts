import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { GrowingFilter, seedOfText, uuidOfWords, wordsOfUuid } from '../../../server/commit/bloom-filter.ts';

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
      expect(knownBetween(filterOf(20_000, { keysFirst }), 20_000, 40_000)).to.be.below(200);
    }
  });

  it('separates the keys of two projects', () => {
    expect(knownBetween(filterOf(10_000), 0, 10_000, seedOfText('another project'))).to.be.below(100);
  });

  it('may have every key beyond bytesMax, and grows no further', () => {
    const filter = filterOf(20_000, { keysFirst: 100, bytesMax: 4096 });

    expect(filter.isComplete).to.equal(false);
    expect(knownBetween(filter, 0, 30_000)).to.equal(30_000);
    expect(filter.bytes).to.be.at.most(4096);
  });

  it('doubles when it is full, up to bytesMax and not a byte beyond', () => {
    const sizeOf = (count: number, bytesMax: number) => {
      const { bytes, isComplete } = filterOf(count, { keysFirst: 100, bytesMax });
      return { bytes, isComplete };
    };

    expect(sizeOf(100, 600)).to.deep.equal({ bytes: 200, isComplete: true });
    expect(sizeOf(101, 600)).to.deep.equal({ bytes: 600, isComplete: true });
    expect(sizeOf(101, 599)).to.deep.equal({ bytes: 0, isComplete: false });
  });

  it('takes its seed by FNV-1a, with the vectors of draft-eastlake-fnv', () => {
    const seeds = ['', 'a', 'foobar'].map((text) => seedOfText(text) >>> 0);

    expect(seeds).to.deep.equal([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
  });

  it('gives the words of a UUID back as its text', () => {
    for (const uuid of [uuidAt(1), uuidAt(2), '00000001-0000-0002-0000-000300000004'])
      expect(uuidOfWords(wordsOfUuid(uuid))).to.equal(uuid);
  });

  it('uses all 128 bits of a UUID', () => {
    const zero = wordsOfUuid('00000000-0000-0000-0000-000000000000');
    const bits = Array.from({ length: 32 }, (_, at) => {
      const hex = '0'.repeat(at) + '8' + '0'.repeat(31 - at);
      return wordsOfUuid(
        [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-'),
      ).join();
    });

    expect(zero).to.deep.equal([0, 0, 0, 0]);
    expect(new Set([...bits, zero.join()]).size).to.equal(33);
    expect(wordsOfUuid('ffffffff-ffff-ffff-ffff-ffffffffffff')).to.deep.equal([-1, -1, -1, -1]);
  });
});
