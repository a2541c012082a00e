import { expect } from 'chai';
import { Lexer } from 'yaml';
import { LexemeWatch } from '../../../client/policy/language/lexeme-watch.ts';
import { FaultList } from '../../../client/policy/language/policy-fault.ts';

/** The result of the watch for a text: its last verdict, and its faults as `line:column message`. */
function watch(text: string): { last: string; faults: string[] } {
  const faults = new FaultList();
  const watch = new LexemeWatch(faults);
  let last = '';
  for (const lexeme of new Lexer().lex(text)) {
    last = watch.next(lexeme);
    if (last !== 'feed') break;
  }
  return {
    last,
    faults: faults.sorted(text).map(({ line, column, message }) => `${line}:${column} ${message}`),
  };
}

const ALIAS = 'aliases are not allowed; to mean the text, quote it:';
const SECOND = 'a policy is one document; a second one starts here';
const DEEP = 'nested deeper than 64 levels';

describe('the watch on YAML lexemes', () => {
  const passing: [string, string][] = [
    ['nothing', ''],
    ['a document', 'a: 1\n'],
    ['a document that begins with its mark', '---\na: 1\n'],
    ['a version', '%YAML 1.2\n---\na: 1\n'],
    ['a version after tabs', '%YAML \t 1.2\n---\na: 1\n'],
    ['quoted and block text with any signs', 'a: "*x &y !z"\nb: |\n  *x\n  ---\n'],
    ['plain text that begins with a sign in quotes', "a: '*x'\n"],
    ['64 levels of lists', `${'['.repeat(64)}${']'.repeat(64)}`],
    ['64 levels of maps', `${'{a: '.repeat(64)}1${'}'.repeat(64)}`],
    ['64 levels of blocks in a line', `${'- '.repeat(64)}1`],
    ['many levels one after the other', 'a: [[1]]\nb: {c: [1]}\n'.repeat(40)],
    ['many items of one level', '- - 1\n  - 2\n'.repeat(40)],
  ];
  for (const [what, text] of passing) {
    it(`feeds ${what}`, () => {
      expect(watch(text).faults).to.deep.equal([]);
      expect(watch(text).last).to.be.oneOf(['', 'feed']);
    });
  }

  const refused: [string, string, string[]][] = [
    ['an alias', 'a: *x\n', [`1:4 ${ALIAS} "*x"`]],
    ['an alias as a key', 'a: 1\n*x: 2\n', [`2:1 ${ALIAS} "*x"`]],
    ['an anchor', 'a: 1\nb: &x 2\n', ['2:4 anchors are not allowed']],
    ['a tag', 'a: !!str 1\n', ['1:4 tags are not allowed']],
    ['another directive', '%TAG ! x\n---\na: 1\n', ['1:1 directives are not allowed']],
    ['another version', '%YAML 1.1\n---\na: 1\n', ['1:1 directives are not allowed']],
    ['a version with more behind it', '%YAML 1.2.3\n---\na: 1\n', ['1:1 directives are not allowed']],
    ['a directive that only holds a version', '%X%YAML 1.2\n---\na: 1\n', ['1:1 directives are not allowed']],
  ];
  for (const [what, text, faults] of refused) {
    it(`refuses ${what} and continues`, () => {
      expect(watch(text)).to.deep.equal({ last: 'feed', faults });
    });
  }

  it('ends at a second document', () => {
    expect(watch('a: 1\n---\nb: 2\n')).to.deep.equal({ last: 'end of document', faults: [`2:1 ${SECOND}`] });
    expect(watch('---\na: 1\n...\n---\nb: 2\n').last).to.equal('end of document');
  });

  const deep: [string, string, string][] = [
    ['lists', '['.repeat(65), '1:65'],
    ['maps', '{a: '.repeat(65), '1:257'],
    ['blocks in a line', `${'- '.repeat(65)}1`, '1:129'],
    ['keys in a line', `${'? '.repeat(65)}1`, '1:129'],
    [
      'blocks over lines',
      Array.from({ length: 65 }, (_, depth) => `${' '.repeat(depth)}-`).join('\n'),
      '65:65',
    ],
  ];
  for (const [what, text, place] of deep) {
    it(`stops at 65 levels of ${what}`, () => {
      expect(watch(text)).to.deep.equal({ last: 'stop', faults: [`${place} ${DEEP}`] });
    });
  }

  it('stops at the 64th refused lexeme', () => {
    expect(watch('- *x\n'.repeat(63)).last).to.equal('feed');
    const { last, faults } = watch('- *x\n'.repeat(64));
    expect([last, faults.length > 0]).to.deep.equal(['stop', true]);
  });
});
