import {
  ALLOWED,
  APPROVAL_BY_ROLE,
  compareUtf8,
  decisionText,
  limits,
  UNKNOWN_TOOL,
  unreadableCall,
  type PolicyIr,
} from '../../client/policy/language/index.ts';
import { BLOB_ADDRESS, HEAD, NO_ROW } from './blob-layout.ts';
import { BlobWriter } from './blob-writer.ts';
import { packPaths, PackedConditions } from './pack-condition.ts';
import { packFragments, resultBytesMax } from './pack-fragments.ts';
import { packRoles, packTools } from './pack-tables.ts';
import { packRules } from './pack-rules.ts';

/** Packs a valid policy into the bytes that the runtime reads at BLOB_ADDRESS. The same policy gives the same bytes. */
export function packPolicy(ir: PolicyIr): Uint8Array {
  const blob = new BlobWriter();
  const packed = new PackedConditions(blob);
  const tools = ir.tools.map((name, index) => ({ name, index })).sort((a, b) => compareUtf8(a.name, b.name));
  const roles = ir.roles.map((row, index) => ({ ...row, index })).sort((a, b) => compareUtf8(a.name, b.name));
  blob.head(HEAD.TOOL_COUNT, tools.length);
  blob.head(HEAD.ROLE_COUNT, roles.length);
  blob.head(HEAD.RULE_WORDS, Math.ceil(ir.rules.length / 32));
  const fallback = roles.findIndex(({ name }) => name === '*');
  blob.head(HEAD.FALLBACK_ROLE, fallback < 0 ? NO_ROW : fallback);
  blob.head(HEAD.TOOLS, packTools(blob, ir, tools));
  blob.head(HEAD.ROLES, packRoles(blob, ir, { roles, tools }));
  blob.head(HEAD.RULES, packRules(packed, ir.rules));
  blob.head(HEAD.PATHS, packPaths(packed));
  blob.head(HEAD.PATH_COUNT, packed.paths.length);
  packResults(blob);
  packFragments(blob);
  placeScratch(packed, resultBytesMax(ir));
  return blob.toBytes();
}

function packResults(blob: BlobWriter): void {
  const results = [
    [HEAD.RESULT_TOO_LARGE, unreadableCall('too_large')],
    [HEAD.RESULT_BAD_JSON, unreadableCall('bad_json')],
    [HEAD.RESULT_BAD_CALL, unreadableCall('bad_call')],
    [HEAD.RESULT_UNKNOWN_TOOL, UNKNOWN_TOOL],
    [HEAD.RESULT_ALLOW, ALLOWED],
    [HEAD.RESULT_APPROVAL, APPROVAL_BY_ROLE],
  ] as const;
  for (const [offset, parts] of results) blob.headRef(offset, blob.sizedText(decisionText(parts)));
}

/** After the blob come the path cache, the list of the rules that fired and the call. */
function placeScratch({ blob, paths, wildBytesMax }: PackedConditions, resultBytes: number): void {
  const cache = aligned(BLOB_ADDRESS + blob.byteLength);
  const fired = cache + paths.length * 4;
  blob.head(HEAD.PATH_CACHE, cache);
  blob.head(HEAD.FIRED, fired);
  blob.head(HEAD.INPUT, aligned(fired + limits.RULES_MAX * 4));
  // 256 masks for bytes, one for `?` and the state; each has a bit for every unit of the pattern.
  const wildScratch = 258 * 4 * Math.ceil(wildBytesMax / 32);
  blob.head(HEAD.TAIL_BYTES, Math.max(resultBytes, wildScratch) + 64);
}

function aligned(address: number): number {
  return Math.ceil(address / 8) * 8;
}
