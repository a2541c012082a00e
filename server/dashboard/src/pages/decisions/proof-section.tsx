import { useEffect, useState } from 'preact/hooks';
import type { RecordProof } from '../../../../../client/proof/index.ts';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/call.ts';
import { trustedKey, witnessesOf } from '../../api/log.ts';
import { parseExact } from '../../api/parse-exact.ts';
import { request } from '../../api/request.ts';
import type { DecisionRecord, JsonObject } from '../../api/types.ts';
import { projectPath } from '../../app/route.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Inert } from '../../ui/inert.tsx';
import { useAction } from '../../ui/use-action.ts';

const PENDING_MS = 2000;

type Verified = {
  proof: RecordProof;
  checks: [holds: boolean, text: string][];
  isNewKey: boolean;
  witnesses: string[];
};

/** Proves, in this browser, that the log has the record as it is shown. */
export function ProofSection({ record }: { record: DecisionRecord }) {
  const [verified, setVerified] = useState<Verified | 'pending'>();
  const verify = useAction(async () => setVerified(await verifyRecord(record)));
  useEffect(() => {
    if (verified !== 'pending') return undefined;
    const timer = setTimeout(() => void verify.run(), PENDING_MS);
    return () => clearTimeout(timer);
  }, [verified, verify.isRunning]);
  return (
    <section class="drawer-section proof" aria-live="polite">
      <h3>Proof</h3>
      {verified === undefined && (
        <button type="button" aria-busy={verify.isRunning} onClick={() => void verify.run()}>
          Verify in this browser
        </button>
      )}
      {verified === 'pending' && <p class="muted">Pending: it enters the log within seconds.</p>}
      {verified !== undefined && verified !== 'pending' && <Result verified={verified} record={record} />}
      <FormError error={verify.error} />
    </section>
  );
}

function Result({ verified, record }: { verified: Verified; record: DecisionRecord }) {
  const { proof, checks, isNewKey, witnesses } = verified;
  const isProven = checks.every(([holds]) => holds);
  return (
    <>
      <p>
        <b>{isProven ? 'Proven' : 'Not proven'}</b>
      </p>
      <ul class="proof-checks">
        {checks.map(([holds, text]) => (
          <li key={text} class={holds ? 'proof-holds' : 'proof-fails'}>
            <Icon name={holds ? 'check' : 'close'} /> {holds ? '' : 'Does not hold: '}
            {text}
          </li>
        ))}
      </ul>
      <p class="muted">
        {isNewKey
          ? 'This browser sees the key of the log for the first time and trusts it. '
          : 'The key of the log is the one that this browser saw first. '}
        <a href={projectPath(record.project_id, 'proof')}>Compare the key</a>
      </p>
      <p class="muted">
        {witnesses.length === 0
          ? 'No witness has signed this checkpoint.'
          : 'The checkpoint is signed by witnesses: '}
        <Inert text={witnesses.join(', ')} />
      </p>
      <CodeBlock label="Checkpoint" text={proof.checkpoint} />
    </>
  );
}

async function verifyRecord(record: DecisionRecord): Promise<Verified | 'pending'> {
  const { project_id: id, event_id } = record;
  // The verifier is loaded only on request.
  const { verdictOf } = await import('../../api/verify-proof.ts');
  try {
    const path = 'GET /v1/projects/{id}/audit/decisions/{event_id}/proof';
    const proof: RecordProof = await request(call(path, { id, event_id }));
    const key = await trustedKey(id);
    const { entry, inclusion, checkpoint } = verdictOf(proof, key.text);
    return {
      proof,
      isNewKey: key.isNew,
      witnesses: witnessesOf(proof.checkpoint),
      checks: [
        [isShown(record, proof.line), 'The record shown here is the one that was proven'],
        [entry, 'The hash of its text and salt is the one in the log'],
        [inclusion, `It is entry ${proof.index} of the ${proof.tree_size} that the checkpoint covers`],
        [checkpoint && !key.isChanged, 'The checkpoint is signed with the key of the log'],
      ],
    };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'proof_pending') return 'pending';
    throw error;
  }
}

/** Whether each field of the line is as in the record on the page, digit for digit. */
function isShown(record: DecisionRecord, line: string): boolean {
  const shown = record as unknown as JsonObject;
  return Object.entries(parseExact(line) as JsonObject).every(
    ([name, value]) => JSON.stringify(shown[name]) === JSON.stringify(value),
  );
}
