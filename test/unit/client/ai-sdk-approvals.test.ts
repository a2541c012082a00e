import { writeFile } from 'node:fs/promises';
import { generateText, stepCountIs, tool, type ModelMessage } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { governTools } from '../../../client/adapters/ai-sdk.ts';
import { shutdown, type RunOptions } from '../../../client/index.ts';
import { callOf, modelCalling, modelMaking } from '../../support/ai-sdk-model.ts';
import { bodiesOf, DECISIONS, startAuditServer } from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

const POLICY =
  'version: 1\ntools: [search, transfer]\nroles: { "*": { allow: [search], approve: [transfer] } }\nrules: []\n';
const DENYING = POLICY.replace('approve: [transfer]', 'approve: []');

describe('approvals of the AI SDK (toolApproval)', () => {
  afterEach(() => shutdown());
  const mock = forEachTest(startAuditServer);
  let ran: unknown[];
  let localPolicy: string;
  beforeEach(async () => {
    ran = [];
    localPolicy = await temporaryFile('policy.yaml', POLICY);
  });

  /** As in a separate process: only the messages are shared. */
  const ask = async (messages: ModelMessage[], options: RunOptions & { calls?: boolean } = {}) => {
    const { calls = false, ...caller } = options;
    const tools = {
      search: tool({ inputSchema: z.object({}), execute: () => void ran.push('search') }),
      transfer: tool({
        inputSchema: z.object({ amount: z.number() }),
        execute: ({ amount }) => (ran.push(amount), `sent ${amount}`),
      }),
    };
    const governed = await governTools(tools, {
      agentName: 'a',
      localPolicy,
      apiKey: 'k',
      baseUrl: mock.url,
      ...caller,
    });
    const model = calls
      ? modelCalling(callOf('search', {}), callOf('transfer', { amount: 5 }))
      : modelMaking([]);
    const result = await generateText({ ...governed, model, stopWhen: stepCountIs(3), messages });
    return { content: result.content, messages: [...messages, ...result.responseMessages] };
  };
  const question: ModelMessage[] = [{ role: 'user', content: 'Transfer.' }];
  const answered = async (approved: boolean): Promise<ModelMessage[]> => {
    const { content, messages } = await ask(question, { calls: true });
    const [request] = content.filter(({ type }) => type === 'tool-approval-request');
    if (request?.type !== 'tool-approval-request') throw new Error('No approval was asked for');
    const answer = { type: 'tool-approval-response', approvalId: request.approvalId, approved } as const;
    return [...messages, { role: 'tool', content: [answer] }];
  };
  const recorded = async (): Promise<unknown[]> => {
    await shutdown();
    return bodiesOf(mock, DECISIONS).map(
      ({ tool_name, outcome }) => `${String(tool_name)} ${String(outcome)}`,
    );
  };

  it('run the call in a later run once it is approved, and each decision is recorded once', async () => {
    const messages = await answered(true);
    expect(ran).to.deep.equal(['search']);
    await ask(messages);

    expect(ran).to.deep.equal(['search', 5]);
    expect(await recorded()).to.have.members([
      'transfer needs_approval',
      'search allow',
      'transfer needs_approval',
    ]);
  });

  it('do not run a call that is not approved', async () => {
    await ask(await answered(false));

    expect(ran).to.deep.equal(['search']);
  });

  it('are requested again if the messages end with an older approval and its result', async () => {
    const output = { type: 'text', value: 'sent 5' } as const;
    const result = { type: 'tool-result', toolCallId: 'earlier', toolName: 'transfer', output } as const;
    const request = { type: 'tool-approval-request', approvalId: 'old', toolCallId: 'earlier' } as const;
    const input = { amount: 5 };
    const call = { type: 'tool-call', toolCallId: 'earlier', toolName: 'transfer', input } as const;
    const approval = { type: 'tool-approval-response', approvalId: 'old', approved: true } as const;
    const finished: ModelMessage[] = [
      ...question,
      { role: 'assistant', content: [call, request] },
      { role: 'tool', content: [approval, result] },
    ];
    await ask(finished, { calls: true });

    expect(await recorded()).to.have.members(['search allow', 'transfer needs_approval']);
  });

  it('do not run an approved call that the policy denies by that time', async () => {
    const messages = await answered(true);
    await writeFile(localPolicy, DENYING);
    const { messages: after } = await ask(messages);

    expect(ran).to.deep.equal(['search']);
    expect(JSON.stringify(after)).to.include('Role may not use this tool.');
    expect(await recorded()).to.include('transfer deny');
  });

  it('are not requested if there is an onApproval', async () => {
    const { content } = await ask(question, { calls: true, onApproval: () => true });

    expect(ran).to.have.members(['search', 5]);
    expect(content.filter(({ type }) => type === 'tool-approval-request')).to.deep.equal([]);
  });
});
