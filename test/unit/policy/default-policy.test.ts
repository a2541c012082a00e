import { expect } from 'chai';
import { defaultPolicy } from '../../../client/policy/language/index.ts';
import { enginesOf } from './support/engines.ts';

describe('the default policy', () => {
  const manifest = {
    name: 'support "bot"',
    tools: [
      'write',
      { name: 'read', annotations: { readOnlyHint: true } },
      'write',
      { name: 'send', annotations: {} },
    ],
  };

  it('has the shape that POLICY.md gives it', () => {
    expect(defaultPolicy(manifest)).to.equal(
      [
        'version: 1',
        'agent: "support \\"bot\\""',
        'tools: ["write", "read", "send"]',
        'roles:',
        '  admin: {allow: ["*"]}',
        '  "*":   {allow: ["read"], approve: ["write", "send"]}',
        'rules: []',
        '',
      ].join('\n'),
    );
  });

  it('shows every outcome', () => {
    const { typescript } = enginesOf(defaultPolicy(manifest));
    const outcome = (tool: string, role?: string): string => typescript.decide({ tool, role }).outcome;

    expect(outcome('write', 'admin')).to.equal('allow');
    expect(outcome('read')).to.equal('allow');
    expect(outcome('write')).to.equal('needs_approval');
    expect(outcome('delete', 'admin')).to.equal('deny');
  });

  it('a tool named twice is read-only when every mention says so', () => {
    const readOnly = { name: 'x', annotations: { readOnlyHint: true } };

    expect(defaultPolicy({ name: 'a', tools: [readOnly, readOnly] })).to.contain('allow: ["x"]');
    expect(defaultPolicy({ name: 'a', tools: [readOnly, 'x'] })).to.contain('approve: ["x"]');
  });

  it('is good for every manifest: names that YAML would take for something else, and none at all', () => {
    const tools = [
      'no',
      'null',
      '1',
      '~',
      '- a',
      '{',
      '# x',
      '__proto__',
      'é',
      '😀',
      '\\',
      '"',
      '& a',
      '! b',
      '\u2028',
    ];
    const { typescript } = enginesOf(defaultPolicy({ name: '*', tools }));

    for (const tool of tools) expect(typescript.decide({ tool }).outcome, tool).to.equal('needs_approval');
    expect(
      enginesOf(defaultPolicy({ name: 'none', tools: [] })).typescript.decide({ tool: 'a' }).outcome,
    ).to.equal('deny');
  });
});
