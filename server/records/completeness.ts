import { rawJson } from '../json.ts';
import { type ReadScope, scopeFields } from './counts.ts';
import type { AuditReads } from './days.ts';
import { droppedOf, readLedger, STREAMS, type Stream } from './ledger.ts';

/** GET …/audit/completeness. */
export async function readCompleteness(reads: AuditReads, scope: ReadScope) {
  return { ...scopeFields(scope), ...(await completenessOf(reads, scope, STREAMS)) };
}

/** How many of the events that senders emitted have arrived, in the form of the answer. */
export async function completenessOf(reads: AuditReads, scope: ReadScope, streams: readonly Stream[]) {
  const { emitters, unclosed, received, dropped, missing } = await countsOf(reads, scope, streams);
  const emitted = received + dropped + missing;
  return {
    emitters,
    unclosed,
    emitted: rawJson(String(emitted)),
    received: Number(received),
    dropped: rawJson(String(dropped)),
    missing: rawJson(String(missing)),
    percent: emitted === 0n ? null : Number((received * 10_000n) / emitted) / 100,
  };
}

/** The same counts as numbers. Some may be too large for a double, because a sender may report any number. */
export async function countsOf(reads: AuditReads, scope: ReadScope, streams: readonly Stream[]) {
  const rows = await Promise.all(streams.map((stream) => readLedger(reads, scope, { stream })));
  const sum = (key: 'emitters' | 'unclosed' | 'received') => rows.reduce((all, row) => all + row[key], 0);
  let [dropped, missing] = [0n, 0n];
  for (const gaps of rows.flatMap((row) => row.gaps)) {
    const explained = droppedOf(gaps);
    gaps.forEach(([, size, , isInside], place) => {
      if (isInside === 0) return;
      const known = explained[place] ?? 0;
      dropped += BigInt(known);
      missing += BigInt(size - known);
    });
  }
  const received = BigInt(sum('received'));
  return { emitters: sum('emitters'), unclosed: sum('unclosed'), received, dropped, missing };
}
