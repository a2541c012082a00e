import { expect } from 'chai';
import { parseExact } from '../../../server/dashboard/src/api/parse-exact.ts';
import type { DecisionRecord } from '../../../server/dashboard/src/api/types.ts';
import { decidesSame, policyLineOf } from '../../../server/dashboard/src/api/policy-line.ts';

const POLICY = `version: 1
# roles: not these
tools: [search, transfer]
roles:
  admin: { allow: ['*'] }
  'editor': { allow: [search], approve: [transfer] }
  '*': { allow: [search] }
rules:
  - id: limit
    tools: [transfer]
    require: { arg: amount, lte: 1000 }
    effect: needs_approval
    reason: Above 1000.
  - effect: deny
    id: "closed"
    reason: 'Closed: always.'
`;
const lineOf = (role: string, violations: string[], reason: string, policy = POLICY) =>
  policyLineOf(policy, { role, violations, reason, outcome: 'needs_approval' })?.line;

describe('the line of a policy that decided', () => {
  it('is the rule that gave the reason', () => {
    expect(lineOf('admin', ['limit: Above 1000.'], 'Above 1000.')).to.equal(9);
    const both = ['limit: Above 1000.', 'closed: Closed: always.'];
    const denied = { role: '', violations: both, reason: 'Closed: always.', outcome: 'deny' } as const;
    expect(policyLineOf(POLICY, denied)).to.deep.equal({ line: 15, text: '    id: "closed"' });
  });

  it('is the rule with the winning effect if several give the same reason', () => {
    const policy = POLICY.replace("'Closed: always.'", 'Above 1000.');
    const decided = {
      role: 'admin',
      violations: ['limit: Above 1000.', 'closed: Above 1000.'],
      reason: 'Above 1000.',
    };
    expect(policyLineOf(policy, { ...decided, outcome: 'deny' })?.line).to.equal(15);
    expect(policyLineOf(policy, { ...decided, outcome: 'needs_approval' })?.line).to.equal(9);
  });

  it('is the row of the role, or the fallback, or the roles', () => {
    const denied = [['role_not_allowed'], 'Role may not use this tool.'] as const;
    expect(lineOf('editor', ['approval_by_role'], 'This tool needs approval for this role.')).to.equal(6);
    expect(lineOf('admin', [], '')).to.equal(5);
    expect(lineOf('guest', [...denied[0]], denied[1])).to.equal(7);
    expect(
      lineOf('', [...denied[0]], denied[1], POLICY.replace("  '*': { allow: [search] }\n", '')),
    ).to.equal(4);
  });

  it('is the list of tools for a tool that is not in it', () => {
    expect(lineOf('admin', ['unknown_tool'], 'Tool is not in the policy.')).to.equal(3);
  });

  it('is missing for a text that is not a policy, or without the rule', () => {
    expect(lineOf('admin', [], '', 'tools: [')).to.equal(undefined);
    expect(lineOf('admin', [], '', '[]')).to.equal(undefined);
    expect(lineOf('admin', ['gone: Gone.'], 'Gone.')).to.equal(undefined);
  });
});

const argumentsOf = (text: string) => parseExact(text) as DecisionRecord['arguments'];

describe('whether a policy decides a recorded call the same', () => {
  const record = {
    tool_name: 'transfer',
    role: 'admin',
    arguments: argumentsOf('{"amount":1001}'),
    outcome: 'deny',
    reason: 'Closed: always.',
  } as const;

  it('is determined by outcome and reason', () => {
    expect(decidesSame(POLICY, record)).to.equal(true);
    expect(decidesSame(POLICY, { ...record, reason: 'Over the limit.' })).to.equal(false);
    expect(decidesSame(POLICY, { ...record, outcome: 'allow', reason: '' })).to.equal(false);
  });

  it('is unknown for a text that is not a policy, and for incomplete arguments', () => {
    expect(decidesSame('tools: [', record)).to.equal(undefined);
    expect(decidesSame(POLICY, { ...record, arguments: { token: '[REDACTED]' } })).to.equal(undefined);
    expect(decidesSame(POLICY, { ...record, arguments: { _truncated: true, preview: '{' } })).to.equal(
      undefined,
    );
  });
});
