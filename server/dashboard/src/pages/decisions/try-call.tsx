import { useState } from 'preact/hooks';
import { hasRole } from '../../../../rights.ts';
import { checkOf, versionOf } from '../../api/call.ts';
import { callText, isWhole } from '../../api/recorded-call.ts';
import { request } from '../../api/request.ts';
import type { Decision, DecisionRecord } from '../../api/types.ts';
import { useRole } from '../../app/role.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { OutcomeBadge } from '../../ui/outcome.tsx';
import { useAction } from '../../ui/use-action.ts';
import { draftKey, drafts } from '../agents/drafts.ts';

type TryCallProps = { record: DecisionRecord; latest: number };
type Tried = { by: string; decision: Decision | undefined };

/** Decides the recorded call again, by the current policy or by the person's draft of it. For editors. */
export function TryCall({ record, latest }: TryCallProps) {
  const { project_id, agent_name, outcome } = record;
  const { role } = useRole(project_id);
  const [tried, setTried] = useState<Tried | undefined>(undefined);
  const draft = drafts.get(draftKey(project_id, agent_name, 'policy'));
  const { run, isRunning, error } = useAction(async (by: string, policyYaml: string | undefined) => {
    const policy = policyYaml ?? (await request(versionOf(project_id, agent_name, latest))).policy_yaml;
    const result = await request(checkOf(project_id, agent_name), {
      bodyText: `{"policy_yaml":${JSON.stringify(policy)},"calls":[${callText(record)}]}`,
    });
    setTried({ by, decision: result.decisions?.[0] });
  });
  if (role === undefined || !hasRole(role, 'editor') || !isWhole(record)) return null;
  const current = `the current policy, v${latest}`;
  return (
    <>
      <p class="try-call">
        <button
          type="button"
          class="small"
          aria-busy={isRunning}
          onClick={() => void run(current, undefined)}
        >
          Try with {current}
        </button>
        {draft !== undefined && (
          <button
            type="button"
            class="small"
            aria-busy={isRunning}
            onClick={() => void run('your draft', draft)}
          >
            Try with your draft
          </button>
        )}
      </p>
      <FormError error={error} />
      {tried !== undefined && (
        <p role="status">
          By {tried.by}:{' '}
          {tried.decision === undefined ? (
            'no decision, because it is invalid'
          ) : (
            <Result {...tried.decision} />
          )}
          {tried.decision !== undefined && (
            <span class="muted">
              {tried.decision.outcome === outcome ? ' as recorded' : ' not as recorded'}
            </span>
          )}
        </p>
      )}
    </>
  );
}

function Result({ outcome, reason }: Decision) {
  return (
    <>
      <OutcomeBadge outcome={outcome} /> {reason !== '' && <Inert text={reason} />}
    </>
  );
}
