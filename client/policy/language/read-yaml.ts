import { Composer, Lexer, Parser, type CST } from 'yaml';
import { LexemeWatch } from './lexeme-watch.ts';
import type { FaultList } from './policy-fault.ts';
import { YamlNodeReader } from './yaml-node-reader.ts';
import type { YamlNode } from './yaml-node.ts';

// Not allowed anywhere in YAML 1.2. The validation of names and texts is stricter.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNPRINTABLE = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

// The failsafe schema leaves scalars as text, which YamlNodeReader interprets. The parser's own test for unique keys takes
// quadratic time. With logLevel 'silent' the parser would not report errors.
const COMPOSER_OPTIONS = {
  version: '1.2',
  schema: 'failsafe',
  uniqueKeys: false,
  merge: false,
  strict: true,
  prettyErrors: false,
  logLevel: 'error',
} as const;

const LOST_TOKENS_MAX = 64;

/** Returns the root of a policy text; undefined if faults prevent its validation. */
export function readYaml(text: string, faults: FaultList): YamlNode | undefined {
  const printable = text.replace(UNPRINTABLE, (_character, offset: number) => {
    faults.add(offset, 'control characters are not allowed');
    return '\ufffd';
  });
  const tokens = tokensFrom(printable, faults);
  if (tokens === undefined) return undefined;
  const [document] = [...new Composer(COMPOSER_OPTIONS).compose(tokens, true, printable.length)];
  if (document === undefined || reportSyntaxFaults(document.errors, faults)) return undefined;
  return new YamlNodeReader(faults).readRoot(document.contents);
}

function tokensFrom(text: string, faults: FaultList): CST.Token[] | undefined {
  const watch = new LexemeWatch(faults);
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let lost = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const verdict = watch.next(lexeme);
    if (verdict === 'stop') return undefined;
    if (verdict === 'end of document') break;
    tokens.push(...parser.next(lexeme));
    // After some errors the parser does not recover, and every further token is an error.
    if (tokens.at(-1)?.type === 'error') lost += 1;
    if (lost > LOST_TOKENS_MAX) break;
  }
  tokens.push(...parser.end());
  return tokens;
}

type SyntaxFault = { pos: [number, number]; message: string };

/** Returns whether there are any: a tree with syntax errors is not validated, because it would yield false faults. */
function reportSyntaxFaults(errors: readonly SyntaxFault[], faults: FaultList): boolean {
  // The parser may report again what the watch has refused.
  const unreported = errors.filter(({ pos }) => !faults.hasFaultAt(pos[0]));
  const causes = unreported.filter(({ message }) => !LOST_TOKEN.test(message));
  // If the parser did not recover, it reports every further token: only the first matters.
  const kept = causes.length > 0 ? causes : unreported.slice(0, 1);
  for (const { pos, message } of kept) faults.add(pos[0], message);
  return unreported.length > 0;
}

const LOST_TOKEN = /^Unexpected .* in YAML (?:stream|document)/s;
