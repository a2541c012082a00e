import { useId, useState } from 'preact/hooks';

import { checkOf } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { Decision } from '../../api/types.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { OutcomeBadge, Violations } from '../../ui/outcome.tsx';
import { useSignal } from '../../ui/use-action.ts';
import { useForm } from '../../ui/use-form.ts';
import type { AgentTabProps } from './agent-page.tsx';

export type DraftProps = AgentTabProps & { policyYaml: string; isValid: boolean };

/** Evaluates one call with the draft. */
export function DryRun({ projectId, agentName, latest, policyYaml, isValid }: DraftProps) {
  const [tool, setTool] = useState(latest.tools[0]?.name ?? '');
  const [role, setRole] = useState('');
  const [args, setArgs] = useState('{}');
  const [decided, setDecided] = useState<{ question: string; decision: Decision | undefined }>();
  const fault = jsonFault(args);
  const faultId = useId();
  const head = JSON.stringify({ tool, ...(role === '' ? {} : { role }) }).slice(0, -1);
  // As text, so that every digit of a number is kept.
  const question = `{"policy_yaml":${JSON.stringify(policyYaml)},"calls":[${head},"arguments":${args}}]}`;
  const signal = useSignal(question);
  const { onSubmit, isRunning, error } = useForm(async () => {
    const result = await request(checkOf(projectId, agentName), { bodyText: question, signal });
    setDecided({ question, decision: result.decisions?.[0] });
  });
  // Never show a decision for another draft or call.
  const decision = decided?.question === question ? decided.decision : undefined;
  return (
    <section class="panel" aria-labelledby="dry-run">
      <h2 id="dry-run">Test a call</h2>
      <form onSubmit={onSubmit}>
        <div class="dry-run-row">
          <label>
            Tool
            <input
              list="tools"
              value={tool}
              required
              onInput={({ currentTarget }) => setTool(currentTarget.value)}
            />
          </label>
          <datalist id="tools">
            {latest.tools.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <label>
            Role
            <input
              value={role}
              placeholder="(none)"
              onInput={({ currentTarget }) => setRole(currentTarget.value)}
            />
          </label>
        </div>
        <label>
          Arguments (JSON)
          <textarea
            rows={4}
            value={args}
            spellcheck={false}
            aria-invalid={fault !== undefined}
            aria-describedby={fault === undefined ? undefined : faultId}
            onInput={({ currentTarget }) => setArgs(currentTarget.value)}
          />
        </label>
        {fault !== undefined && (
          <p id={faultId} class="field-error">
            {fault}
          </p>
        )}
        <FormError error={error} />
        <button type="submit" aria-busy={isRunning} disabled={!isValid || fault !== undefined || tool === ''}>
          Test call
        </button>
        {!isValid && <span class="muted"> Available once the policy is valid.</span>}
      </form>
      {decision !== undefined && <DecisionResult decision={decision} />}
    </section>
  );
}

function DecisionResult({ decision: { outcome, reason, violations, hint } }: { decision: Decision }) {
  return (
    <div class="dry-run-result" role="status">
      <OutcomeBadge outcome={outcome} />
      {reason !== '' && (
        <p>
          <Inert text={reason} as="block" />
        </p>
      )}
      {violations.length > 0 && <Violations outcome={outcome} violations={violations} />}
      {hint !== null && <JsonTree value={hint} />}
    </div>
  );
}

function jsonFault(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = value === null || (typeof value === 'object' && !Array.isArray(value));
    return isObject ? undefined : 'Arguments must be an object or null.';
  } catch {
    return 'Invalid JSON.';
  }
}
