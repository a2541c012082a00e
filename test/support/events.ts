import { randomUUID } from 'node:crypto';

/** A valid decision with all thirteen keys. */
export function decisionEvent(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    event_id: randomUUID(),
    occurred_at: new Date().toISOString(),
    agent_name: 'support-bot',
    tool_name: 'search',
    outcome: 'allow',
    role: 'editor',
    error_type: '',
    reason: '',
    violations: [],
    hint: null,
    arguments: { query: 'hello' },
    user_id: 'user-1',
    session_id: 'session-1',
    ...overrides,
  };
}

/** A valid usage report. */
export function llmInvocation(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    event_id: randomUUID(),
    occurred_at: new Date().toISOString(),
    agent_name: 'support-bot',
    model: 'model-1',
    input_tokens: 100,
    output_tokens: 20,
    ...overrides,
  };
}
