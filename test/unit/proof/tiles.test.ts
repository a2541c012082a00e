import { expect } from 'chai';
import {
  bundleFrom,
  bundlePath,
  entriesOfBundle,
  entryOf,
  hashesOfTile,
  parseTilePath,
  ProofError,
  tilePath,
  tilesOfTree,
  tileWidth,
} from '../../../client/proof/index.ts';

describe('tiles', () => {
  it('have the paths of C2SP tlog-tiles', () => {
    const paths = [
      ['tile/0/x001/x234/067', { level: 0, index: 1_234_067, width: 256 }],
      ['tile/63/000.p/1', { level: 63, index: 0, width: 1 }],
      ['tile/1/999.p/255', { level: 1, index: 999, width: 255 }],
      ['tile/2/x001/000', { level: 2, index: 1000, width: 256 }],
    ] as const;

    for (const [path, tile] of paths) {
      expect(tilePath(tile)).to.equal(path);
      expect(parseTilePath(path)).to.deep.equal(tile);
    }
    expect(bundlePath({ index: 273, width: 112 })).to.equal('tile/entries/273.p/112');
    expect(parseTilePath('tile/entries/273.p/112')).to.deep.equal({
      level: 'entries',
      index: 273,
      width: 112,
    });
  });

  it('have no other paths', () => {
    const others = [
      'tile/64/000', 'tile/99/000', 'tile/0/000.p/257', 'tile/00/000', 'tile/0/0', 'tile/0/1000', 'tile/0/x000/001', 'tile/0/001/000', 'tile/0/x001',
      'tile/0/000.p/0', 'tile/0/000.p/256', 'tile/0/000.p/01', 'tile/0/000.p/', 'tile/0/000.p/1/', '/tile/0/000',
      'tile/-1/000', 'tile/entries/0', 'tile/entries/000/', 'tile/data/000', 'tile/0/x999/x999/x999/x999/x999/999',
      'tile/0/00a', 'tile/8/0/000', 'tile/0/000\n', 'tile//000',
    ]; // prettier-ignore

    expect(others.filter((path) => parseTilePath(path) !== undefined)).to.deep.equal([]);
  });

  it('of a tree of 70,000 are those of the example of C2SP', () => {
    const tiles = [...tilesOfTree(70_000)];

    const full = (level: number) => tiles.filter((tile) => tile.level === level && tile.width === 256).length;
    expect([full(0), full(1), full(2)]).to.deep.equal([273, 1, 0]);
    expect(tiles.filter(({ width }) => width < 256)).to.deep.equal([
      { level: 0, index: 273, width: 112 },
      { level: 1, index: 1, width: 17 },
      { level: 2, index: 0, width: 1 },
    ]);
    expect([...tilesOfTree(256)]).to.deep.equal([
      { level: 0, index: 0, width: 256 },
      { level: 1, index: 0, width: 1 },
    ]);
    expect([...tilesOfTree(0)]).to.deep.equal([]);
    expect(tileWidth(70_000, { level: 0, index: 274 })).to.equal(0);
  });

  it('hold whole hashes, and bundles whole entries, exactly as many as asked for', () => {
    const entries = [new Uint8Array(32).fill(1), new Uint8Array(300).fill(2), new Uint8Array()];
    const bundle = bundleFrom(entries);

    expect(Array.from(bundle.subarray(0, 2))).to.deep.equal([0, 32]);
    expect(Array.from(bundle.subarray(34, 36))).to.deep.equal([1, 44]);
    expect(entriesOfBundle(bundle, 3)).to.deep.equal(entries);
    expect(() => entriesOfBundle(bundle, 2)).to.throw(ProofError);
    expect(() => entriesOfBundle(bundle.slice(0, -1), 3)).to.throw(ProofError);
    expect(() => entriesOfBundle(bundle.slice(0, 40), 2)).to.throw(ProofError);
    expect(hashesOfTile(new Uint8Array(64), 2)).to.have.length(2);
    expect(() => hashesOfTile(new Uint8Array(63), 2)).to.throw(ProofError);
  });

  it('entries are SHA-256 of salt and line', () => {
    // printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0{"é":1}' | sha256sum
    expect(Buffer.from(entryOf(new Uint8Array(16), '{"é":1}')).toString('hex')).to.equal(
      'c256b3441963aacd5cc8cbdde3f5e32f23957cdeae0e731f0d6a1138341591a8',
    );
  });
});
