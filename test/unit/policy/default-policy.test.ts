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

  it('has the form that docs/policy.md shows', () => {
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

  it('a tool listed twice is read-only if every entry says so', () => {
    const readOnly = { name: 'x', annotations: { readOnlyHint: true } };

    expect(defaultPolicy({ name: 'a', tools: [readOnly, readOnly] })).to.contain('allow: ["x"]');
    expect(defaultPolicy({ name: 'a', tools: [readOnly, 'x'] })).to.contain('approve: ["x"]');
  });

  it('is valid for every manifest, including YAML keywords as names and no tools', () => {
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

  describe('for 256 tools of 128 bytes', () => {
    const nameOf = (fill: string, index: number) => String(index).padStart(3, '0') + fill.repeat(125);
    const tool = (fill: string, index: number, readOnlyHint: boolean) => ({
      name: nameOf(fill, index),
      annotations: { readOnlyHint },
    });
    const cases = [
      { title: 'that write', fill: 'a', readOnly: 0, outcomes: ['needs_approval', 'needs_approval'] },
      { title: 'that read', fill: 'a', readOnly: 256, outcomes: ['allow', 'allow'] },
      { title: 'of which 200 read', fill: 'a', readOnly: 200, outcomes: ['allow', 'needs_approval'] },
      { title: 'of which one reads', fill: 'a', readOnly: 1, outcomes: ['needs_approval', 'needs_approval'] },
      { title: 'made of quotes', fill: '"', readOnly: 1, outcomes: ['needs_approval', 'needs_approval'] },
    ];
    for (const { title, fill, readOnly, outcomes } of cases) {
      it(`${title} is valid: ${outcomes.join(', ')}`, () => {
        const tools = Array.from({ length: 256 }, (_, index) => tool(fill, index, index < readOnly));
        const { typescript } = enginesOf(defaultPolicy({ name: 'large', tools }));
        const first = { tool: nameOf(fill, 0) };
        const last = { tool: nameOf(fill, 255) };

        expect([first, last].map((call) => typescript.decide(call).outcome)).to.deep.equal(outcomes);
        expect(typescript.decide({ ...first, role: 'admin' }).outcome).to.equal('allow');
      });
    }
  });
});
