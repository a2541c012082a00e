import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  consistencyProof,
  EMPTY_ROOT,
  Frontier,
  inclusionProof,
  leafHash,
  nodeHash,
  ProofError,
  type ReadTile,
  rootOf,
  treeRoot,
  verifyConsistency,
  verifyInclusion,
} from '../../../client/proof/index.ts';

type InclusionProbe = {
  file: string;
  leafIdx: number;
  treeSize: number;
  root: string;
  leafHash: string;
  proof: string[] | null;
  wantErr: boolean;
};
type ConsistencyProbe = {
  file: string;
  size1: number;
  size2: number;
  root1: string;
  root2: string;
  proof: string[] | null;
  wantErr: boolean;
};
type Tree = {
  leaves: string[];
  roots: string[];
  inclusion: { index: number; size: number; proof: string[] }[];
  consistency: { fromSize: number; toSize: number; proof: string[] }[];
};

const vectors = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../vectors/log/${name}.json`, import.meta.url), 'utf8')) as T;
const base64 = (text: string): Uint8Array => Buffer.from(text, 'base64');
const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Hashes of leaves that are easy to tell apart. */
const leavesOf = (size: number): Uint8Array[] =>
  Array.from({ length: size }, (_, index) => leafHash(Buffer.from(`leaf ${index}`)));

/** Tiles of a tree in memory, built in the simplest way: each hash is the root of its leaves. */
function tilesOver(leaves: Uint8Array[]): { readTile: ReadTile; read: string[] } {
  const read: string[] = [];
  const readTile: ReadTile = async ({ level, index, width }) => {
    read.push(`${level}/${index}.${width}`);
    const span = 256 ** level;
    const first = index * 256 * span;
    const hashes = Array.from({ length: width }, (_, at) =>
      rfcRoot(leaves.slice(first + at * span, first + (at + 1) * span)),
    );
    return Promise.resolve(Buffer.concat(hashes));
  };
  return { readTile, read };
}

/** RFC 6962 section 2.1, word for word. */
function rfcRoot(leaves: Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return EMPTY_ROOT;
  if (leaves.length === 1) return leaves[0] as Uint8Array;
  const k = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  return nodeHash(rfcRoot(leaves.slice(0, k)), rfcRoot(leaves.slice(k)));
}

/** RFC 6962 section 2.1.1, word for word. */
function rfcPath(m: number, leaves: Uint8Array[]): Uint8Array[] {
  if (leaves.length === 1) return [];
  const k = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m < k ? [...rfcPath(m, left), rfcRoot(right)] : [...rfcPath(m - k, right), rfcRoot(left)];
}

/** RFC 6962 section 2.1.2, word for word. */
function rfcProof(m: number, leaves: Uint8Array[], isRoot = true): Uint8Array[] {
  if (m === leaves.length) return isRoot ? [] : [rfcRoot(leaves)];
  const k = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m <= k
    ? [...rfcProof(m, left, isRoot), rfcRoot(right)]
    : [...rfcProof(m - k, right, false), rfcRoot(left)];
}

describe('the Merkle tree of RFC 6962', () => {
  it('gives the results of transparency-dev/merkle for its inclusion proofs', () => {
    const wrong = vectors<InclusionProbe[]>('inclusion').filter((probe) => {
      const proof = (probe.proof ?? []).map(base64);
      const { leafIdx: index, treeSize: size } = probe;
      const claim = { index, size, leaf: base64(probe.leafHash), proof, root: base64(probe.root) };
      return verifyInclusion(claim) === probe.wantErr;
    });

    expect(wrong.map(({ file }) => file)).to.deep.equal([]);
  });

  it('gives the results of transparency-dev/merkle for its consistency proofs', () => {
    const wrong = vectors<ConsistencyProbe[]>('consistency').filter((probe) => {
      const [fromRoot, toRoot] = [base64(probe.root1), base64(probe.root2)];
      const proof = (probe.proof ?? []).map(base64);
      const claim = { fromSize: probe.size1, fromRoot, toSize: probe.size2, toRoot, proof };
      return verifyConsistency(claim) === probe.wantErr;
    });

    expect(wrong.map(({ file }) => file)).to.deep.equal([]);
  });

  it('makes the roots and proofs of the reference tree of Certificate Transparency', async () => {
    const tree = vectors<Tree>('tree');
    const leaves = tree.leaves.map((leaf) => leafHash(hex(leaf)));
    const { readTile } = tilesOver(leaves);
    const frontier = new Frontier();
    const frontierRoots = [frontier, ...leaves].map((leaf) => {
      if (leaf !== frontier) frontier.push(leaf as Uint8Array);
      return hexOf(frontier.root());
    });

    const roots = await Promise.all(tree.roots.map((_, size) => treeRoot(size, readTile)));
    const inclusion = await Promise.all(tree.inclusion.map((one) => inclusionProof(one, readTile)));
    const consistency = await Promise.all(tree.consistency.map((one) => consistencyProof(one, readTile)));

    expect(roots.map(hexOf)).to.deep.equal(tree.roots);
    expect(frontierRoots).to.deep.equal(tree.roots);
    expect(tree.roots.map((_, size) => hexOf(rootOf(leaves.slice(0, size))))).to.deep.equal(tree.roots);
    expect(inclusion.map((proof) => proof.map(hexOf))).to.deep.equal(
      tree.inclusion.map(({ proof }) => proof),
    );
    expect(consistency.map((proof) => proof.map(hexOf))).to.deep.equal(
      tree.consistency.map(({ proof }) => proof),
    );
  });

  it('proves every leaf and every smaller size of small trees as defined in the RFC', async () => {
    const all = leavesOf(33);
    for (let size = 1; size <= all.length; size += 1) {
      const leaves = all.slice(0, size);
      const { readTile } = tilesOver(leaves);
      const root = rfcRoot(leaves);
      for (let index = 0; index < size; index += 1) {
        const proof = await inclusionProof({ index, size }, readTile);
        expect(proof).to.deep.equal(rfcPath(index, leaves));
        const leaf = leaves[index] as Uint8Array;
        expect(verifyInclusion({ index, size, leaf, proof, root })).to.equal(true);
        const fromRoot = rfcRoot(leaves.slice(0, index + 1));
        const consistency = await consistencyProof({ fromSize: index + 1, toSize: size }, readTile);
        expect(consistency).to.deep.equal(rfcProof(index + 1, leaves));
        const claim = { fromSize: index + 1, fromRoot, toSize: size, toRoot: root, proof: consistency };
        expect(verifyConsistency(claim)).to.equal(true);
      }
    }
  });

  it('proves neither a missing leaf nor a larger tree; the proof from an empty tree is empty', async () => {
    const { readTile, read } = tilesOver(leavesOf(4));
    const refused = [
      inclusionProof({ index: 4, size: 4 }, readTile),
      inclusionProof({ index: -1, size: 4 }, readTile),
      consistencyProof({ fromSize: 5, toSize: 4 }, readTile),
    ];

    for (const proof of refused)
      expect(await proof.catch((error: unknown) => error)).to.be.instanceOf(ProofError);
    expect(await consistencyProof({ fromSize: 0, toSize: 4 }, readTile)).to.deep.equal([]);
    expect(read).to.deep.equal([]);
  });

  it('rejects a hash that is not 32 bytes long, although a node hashes both children joined', async () => {
    const leaves = leavesOf(7);
    const { readTile } = tilesOver(leaves);
    const leaf = leaves[3] as Uint8Array;
    const proof = await inclusionProof({ index: 3, size: 7 }, readTile);
    const claim = { index: 3, size: 7, leaf, proof, root: rfcRoot(leaves) };
    const [sibling, ...others] = proof as [Uint8Array];
    // The last byte of the left child becomes the first one of the right child.
    const moved = {
      leaf: Buffer.concat([sibling.slice(-1), leaf]),
      proof: [sibling.slice(0, -1), ...others],
    };

    expect(verifyInclusion(claim)).to.equal(true);
    expect(verifyInclusion({ ...claim, ...moved })).to.equal(false);
  });

  it('reads hashes of full tiles from the level above, each tile once', async () => {
    const size = 3 * 256 + 2;
    const leaves = leavesOf(size);
    const { readTile, read } = tilesOver(leaves);
    const root = rfcRoot(leaves);

    const proof = await inclusionProof({ index: 300, size }, readTile);

    expect(proof).to.deep.equal(rfcPath(300, leaves));
    expect(verifyInclusion({ index: 300, size, leaf: leaves[300] as Uint8Array, proof, root })).to.equal(
      true,
    );
    expect(read.sort()).to.deep.equal(['0/1.256', '0/3.2', '1/0.3']);
  });

  it('proves consistency from every size across the edges of tiles', async () => {
    const toSize = 2 * 256 + 3;
    const leaves = leavesOf(toSize);
    const { readTile } = tilesOver(leaves);
    const toRoot = await treeRoot(toSize, readTile);
    for (const fromSize of [1, 2, 255, 256, 257, 300, 511, 512, 513, 514, 515]) {
      const proof = await consistencyProof({ fromSize, toSize }, readTile);
      const fromRoot = rfcRoot(leaves.slice(0, fromSize));

      expect(proof).to.deep.equal(rfcProof(fromSize, leaves));
      expect(verifyConsistency({ fromSize, fromRoot, toSize, toRoot, proof })).to.equal(true);
    }
  });

  it('counts beyond 32 bits', () => {
    // The last leaf of a tree of 2 ** 40 + 1 leaves has one sibling: the complete tree before it.
    const [leaf, before] = leavesOf(2) as [Uint8Array, Uint8Array];
    const size = 2 ** 40 + 1;
    const claim = { index: 2 ** 40, size, leaf, proof: [before], root: nodeHash(before, leaf) };

    expect(verifyInclusion(claim)).to.equal(true);
    expect(verifyInclusion({ ...claim, index: 0 })).to.equal(false);
    expect(verifyInclusion({ ...claim, index: 2 ** 40 - 1 })).to.equal(false);
  });
});
