export { base64From, bytesFromStrictBase64 } from './bytes.ts';
export {
  type Checkpoint,
  checkpointBody,
  parseCheckpoint,
  type TreeHead,
  verifyCheckpoint,
} from './checkpoint.ts';
export { consistencyProof, inclusionProof, type ReadTile, treeRoot } from './make-proof.ts';
export { EMPTY_ROOT, entryOf, Frontier, HASH_BYTES, leafHash, nodeHash, rootOf } from './merkle-tree.ts';
export { ProofError } from './proof-error.ts';
export { type ProofVerdict, type RecordProof, verifyRecordProof } from './record-proof.ts';
export {
  cosignatureFrom,
  cosignedAt,
  cosignedMessage,
  type NoteSignature,
  noteText,
  parseNote,
  parseSignatures,
  signatureLine,
  signaturesBy,
  type SignedNote,
} from './signed-note.ts';
export {
  bundleFrom,
  type Bundle,
  bundlePath,
  entriesOfBundle,
  hashesOfTile,
  parseTilePath,
  type Tile,
  TILE_WIDTH,
  tilePath,
  tilesOfTree,
  tileWidth,
} from './tiles.ts';
export {
  isKeyName,
  parseVerifierKey,
  type SignatureType,
  type VerifierKey,
  verifierKeyFrom,
  verifierKeyText,
} from './verifier-key.ts';
export { rootFromInclusion, verifyConsistency, verifyInclusion } from './verify-proof.ts';
