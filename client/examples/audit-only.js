// Records decisions that are made elsewhere. Needs GATE_API_KEY.
import { configure, shutdown } from '@gatehouse/client';

const gate = configure();
gate.emit({
  agent_name: 'support-bot',
  tool_name: 'transfer',
  outcome: 'deny',
  reason: 'Over the limit.',
  arguments: { amount: 5000, api_key: 'never leaves this process' },
});
gate.emitLlm({ agent_name: 'support-bot', model: 'some-model', input_tokens: 120, output_tokens: 40 });
await shutdown();
console.log(gate.stats());
