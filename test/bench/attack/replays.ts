import { checkDraft, policyText } from '../../support/agents.ts';
import { sendDecision } from '../../support/audit.ts';
import { decisionEvent } from '../../support/events.ts';
import type { RunningService } from '../../support/service.ts';
import { watchWaits } from '../../support/waits.ts';
import { gaugesOf, inLoops, newAttacker, tallyText } from './attacker.ts';
import { measureAttacks, type Target } from './measure.ts';

const RECORDS = 10_000;
const CALLERS = 4;

/** Checks that replay many large records. */
export function benchReplayAttacks({ seconds }: { seconds: number }): Promise<void> {
  let accounts: RunningService[] = [];
  return measureAttacks(
    {
      [`replays of ${RECORDS} records of 8 KiB, ${CALLERS} callers of 2 accounts`]: (target, duration) =>
        attack(target, duration, accounts),
    },
    { seconds, prepare: async (target) => void (accounts = await attackersWithRecords(target)) },
  );
}

async function attackersWithRecords(target: Target): Promise<RunningService[]> {
  const accounts = [await newAttacker(target), await newAttacker(target)];
  const text = 'x'.repeat(8_000);
  let sent = 0;
  const send = async () => {
    while (sent < RECORDS * accounts.length) {
      const account = accounts[sent % accounts.length];
      sent += 1;
      if (account !== undefined)
        await sendDecision(account, decisionEvent({ agent_name: 'heavy', arguments: { text, sent } }));
    }
  };
  await Promise.all(Array.from({ length: 64 }, send));
  return accounts;
}

async function attack(target: Target, seconds: number, accounts: RunningService[]): Promise<string> {
  const before = (await gaugesOf(target)).rssMb;
  const draft = { policy_yaml: policyText('replay'), replay: { limit: RECORDS } };
  const waits = watchWaits(`${target.url.origin}/healthz`);
  const statuses: number[] = [];
  let peak = 0;
  await inLoops(CALLERS, seconds, async (caller) => {
    const account = accounts[caller % accounts.length];
    if (account === undefined) return;
    const answer = await checkDraft(account, 'heavy', draft);
    await answer.arrayBuffer();
    statuses.push(answer.status);
    peak = Math.max(peak, (await gaugesOf(target)).rssMb);
  });
  const { slowestMs } = await waits.end();
  return `${tallyText(statuses)}; RSS ${before} MB before, at most ${peak} MB; slowest /healthz ${slowestMs.toFixed(0)} ms`;
}
