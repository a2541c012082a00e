import { checkDraft, register, save } from '../../support/agents.ts';
import { inLoops, newAttacker, tallyText } from './attacker.ts';
import { measureAttacks, type Target } from './measure.ts';

const TEXT_BYTES = 64 * 1024;
/** Each takes the parser up to a second. */
const HOSTILE = [`[${','.repeat(TEXT_BYTES - 1)}`, '"'.repeat(TEXT_BYTES), 'a: b\n'.repeat(TEXT_BYTES / 5)];
const CALLERS = 16;
const ACCOUNTS = 4;

/** Policy texts that are slow to parse, saved and checked by people with accounts. */
export function benchPolicyAttacks({ seconds }: { seconds: number }): Promise<void> {
  return measureAttacks({ 'hostile policy texts, 16 callers of 4 accounts': attack }, { seconds });
}

async function attack(target: Target, seconds: number): Promise<string> {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => newAttacker(target)));
  await Promise.all(accounts.map((account) => register(account, { name: 'x', tools: ['t'] })));
  const statuses: number[] = [];
  await inLoops(CALLERS, seconds, async (caller) => {
    const account = accounts[caller % ACCOUNTS];
    if (account === undefined) return;
    const draft = { policy_yaml: HOSTILE[statuses.length % HOSTILE.length] };
    const call = statuses.length % 2 === 0 ? save : checkDraft;
    const answer = await call(account, 'x', draft);
    await answer.arrayBuffer();
    statuses.push(answer.status);
  });
  return tallyText(statuses);
}
