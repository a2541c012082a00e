import { randomUUID } from 'node:crypto';
import { sendDecision, sendLlm } from './audit.ts';
import { call } from './accounts.ts';
import { sendBatch } from './batch.ts';
import { decisionEvent, llmInvocation } from './events.ts';
import { askJson } from './reads.ts';
import type { RunningService } from './service.ts';

export type Completeness = {
  emitters: number;
  unclosed: number;
  emitted: number;
  received: number;
  dropped: number;
  missing: number;
  percent: number | null;
};
export type GapItem = {
  emitter: string;
  agent_name: string;
  stream: string;
  from_sequence: number;
  to_sequence: number;
  dropped: number;
  missing: number;
  after: string | null;
  before: string;
};
export type GapPage = { items: GapItem[]; next_cursor: string | null };

export type Numbers = { sequence?: number | string; dropped?: number | string | undefined };

/** An emitter from the service's point of view: it sends what it is given. */
export function emitterOf(
  service: RunningService,
  stream: 'decisions' | 'llm_invocations' = 'decisions',
  id: string = randomUUID(),
) {
  const headersOf = ({ sequence, dropped }: Numbers) => ({
    'Gate-Emitter': id,
    ...(sequence === undefined ? {} : { 'Gate-Sequence': String(sequence) }),
    ...(dropped === undefined ? {} : { 'Gate-Dropped': String(dropped) }),
  });
  const isUsage = stream === 'llm_invocations';
  const eventOf = isUsage ? llmInvocation : decisionEvent;
  return {
    id,
    send: (numbers: Numbers, event: Record<string, unknown> = {}) =>
      (isUsage ? sendLlm : sendDecision)(service, eventOf(event), { headers: headersOf(numbers) }),
    batch: (numbers: Numbers, events: Record<string, unknown>[]) =>
      sendBatch(service, events.map(eventOf), {
        path: isUsage ? '/v1/audit/llm-invocations/batch' : '/v1/audit/decisions/batch',
        headers: headersOf(numbers),
      }),
    close: (totals: object) =>
      call(service, `/v1/audit/emitters/${id}/close`, {
        key: service.key,
        body: { stream, emitted: 0, dropped: 0, failed: 0, ...totals },
      }),
  };
}

export async function completenessOf(
  service: RunningService,
  query: Record<string, string> = {},
): Promise<Completeness> {
  const { emitters, unclosed, emitted, received, dropped, missing, percent } = await askJson<Completeness>(
    service,
    'completeness',
    { query },
  );
  return { emitters, unclosed, emitted, received, dropped, missing, percent };
}

export async function gapsOf(
  service: RunningService,
  query: Record<string, string> = {},
): Promise<GapItem[]> {
  return (await askJson<GapPage>(service, 'gaps', { query })).items;
}
