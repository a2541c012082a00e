import { expect } from 'chai';
import { defaultPolicy } from '../../../client/policy/language/index.ts';
import { enginesOf } from './support/engines.ts';

const readOnly = (name: string, readOnlyHint = true) => ({ name, annotations: { readOnlyHint } });

describe('the default policy', () => {
  const manifest = {
    name: 'support "bot"',
    tools: ['write', readOnly('read'), 'write', { name: 'send', annotations: {} }],
  };

  it('has the form shown in docs/policy.md', () => {
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

  it('has every outcome', () => {
    const { typescript } = enginesOf(defaultPolicy(manifest));
    const outcome = (tool: string, role?: string): string => typescript.decide({ tool, role }).outcome;

    expect(outcome('write', 'admin')).to.equal('allow');
    expect(outcome('read')).to.equal('allow');
    expect(outcome('write')).to.equal('needs_approval');
    expect(outcome('delete', 'admin')).to.equal('deny');
  });

  it('a tool listed twice is read-only if every entry says so', () => {
    const policyOf = (...tools: (string | ReturnType<typeof readOnly>)[]) =>
      defaultPolicy({ name: 'a', tools });

    expect(policyOf(readOnly('x'), readOnly('x'))).to.contain('allow: ["x"]');
    expect(policyOf(readOnly('x'), 'x')).to.contain('approve: ["x"]');
  });

  it('is valid for every manifest, including YAML keywords as names and no tools', () => {
    const tools = ['no', 'null', '1', '~', '- a', '{', '# x', '__proto__', 'é', '😀', '\\', '"', '& a', '! b', '\u2028']; // prettier-ignore
    const { typescript } = enginesOf(defaultPolicy({ name: '*', tools }));

    for (const tool of tools) expect(typescript.decide({ tool }).outcome, tool).to.equal('needs_approval');
    const none = enginesOf(defaultPolicy({ name: 'none', tools: [] })).typescript;
    expect(none.decide({ tool: 'a' }).outcome).to.equal('deny');
  });

  describe('for 256 tools of 128 bytes', () => {
    const nameOf = (fill: string, index: number) =>
      String(index).padStart(3, '0') + fill.repeat(125).slice(0, 125);
    const cases: [title: string, fill: string, readers: number, outcomes: string[]][] = [
      ['that write', 'a', 0, ['needs_approval', 'needs_approval']],
      ['that read', 'a', 256, ['allow', 'allow']],
      ['of which 200 read', 'a', 200, ['allow', 'needs_approval']],
      ['of which one reads', 'a', 1, ['needs_approval', 'needs_approval']],
      ['made of quotes', '"', 1, ['needs_approval', 'needs_approval']],
      ['made of both kinds of quotes', `""'`, 1, ['needs_approval', 'needs_approval']],
    ];
    for (const [title, fill, readers, outcomes] of cases) {
      it(`${title} is valid: ${outcomes.join(', ')}`, () => {
        const tools = Array.from({ length: 256 }, (_, index) =>
          readOnly(nameOf(fill, index), index < readers),
        );
        const { typescript } = enginesOf(defaultPolicy({ name: 'large', tools }));
        const first = { tool: nameOf(fill, 0) };
        const last = { tool: nameOf(fill, 255) };

        expect([first, last].map((call) => typescript.decide(call).outcome)).to.deep.equal(outcomes);
        expect(typescript.decide({ ...first, role: 'admin' }).outcome).to.equal('allow');
      });
    }
  });
});
