import { readFileSync, readdirSync } from 'node:fs';
import fc from 'fast-check';
import { expect } from 'chai';
import { parsePolicy } from '../../../client/policy/language/index.ts';
import { errorLines, irOf } from './support/engines.ts';

const GOLDEN = new URL('../../golden/policy/', import.meta.url);
const texts = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => readFileSync(new URL(file, GOLDEN), 'utf8'));

const MARKS = ['', ' ', '\n', '\t', ':', '- ', '[', ']', '{', '}', '"', "'", '#', '*', '&', '!', '|', '>', '%', '---\n', '\r\n', '\0', '\ud800', '😀', ',', '?', '@', '\\']; // prettier-ignore

describe('parsePolicy', () => {
  it('never throws on a damaged policy, and sorts its errors by their place in the text', () => {
    const edit = fc.record({ at: fc.nat(), length: fc.nat({ max: 6 }), mark: fc.constantFrom(...MARKS) });
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        (text, edits) => {
          const damaged = edits.reduce((before, { at, length, mark }) => {
            const place = at % (before.length + 1);
            return before.slice(0, place) + mark + before.slice(place + length);
          }, text);
          const parsed = parsePolicy(damaged);
          if (parsed.ok) return;

          const lines = damaged.split('\n');
          const isPlaced = parsed.errors.every(({ line, column, message }, index) => {
            const isInText = column >= 1 && column <= (lines[line - 1]?.length ?? -1) + 1;
            const before = parsed.errors[index - 1];
            const isInOrder =
              before === undefined || before.line < line || (before.line === line && before.column <= column);
            return message !== '' && isInText && isInOrder;
          });
          expect(isPlaced && parsed.errors.length > 0, JSON.stringify(parsed.errors)).to.equal(true);
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it('takes Windows line ends, a byte order mark and a version directive', () => {
    const text = 'version: 1\ntools: [t]\nroles: {}\n';

    const windows = text.replaceAll('\n', '\r\n');

    for (const good of [windows, `\ufeff${text}`, `%YAML 1.2\n---\n${text}...\n`])
      expect(errorLines(good)).to.deep.equal([]);
    expect(errorLines(`${windows}x: 1`)).to.deep.equal(['4:1 unknown key "x" in the policy']);
  });

  it('reads words with a meaning in other YAML versions as text', () => {
    const ir = irOf('version: 1\ntools: [no, on, 1_000, y, 0b1, 12:30, 2026-01-01]\nroles: {}\n');

    expect(ir.tools).to.deep.equal(['no', 'on', '1_000', 'y', '0b1', '12:30', '2026-01-01']);
  });

  it('[] is legal for tools, allow, approve and rules', () => {
    const rule = '{id: r, tools: [], effect: deny, reason: R.}';

    for (const rest of ['roles: {a: {allow: [], approve: []}}\nrules: []', `roles: {}\nrules: [${rule}]`])
      expect(errorLines(`version: 1\ntools: []\n${rest}\n`)).to.deep.equal([]);
  });

  it('accepts JSON', () => {
    const policy = { version: 1, tools: ['t'], roles: { '*': { allow: ['*'] } }, rules: [] };

    expect(errorLines(JSON.stringify(policy, null, 2))).to.deep.equal([]);
  });
});
