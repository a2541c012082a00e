import { Composer, Lexer, Parser } from 'yaml';
import type { CST } from 'yaml';
import { LexemeWatch } from './lexeme-watch.ts';
import type { FaultList } from './policy-fault.ts';
import { YamlNodeReader } from './yaml-node-reader.ts';
import type { YamlNode } from './yaml-node.ts';

// What YAML 1.2 allows nowhere, not even in quotes. The checks judge what names and texts may hold.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNPRINTABLE = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

// Scalars and keys are judged here by their source text: the failsafe schema leaves them alone, and the
// parser's own check for unique keys takes quadratic time. The level must not be silent, or the parser
// keeps errors to itself.
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

/** The root of a policy text, or undefined where the faults tell why there is none to check. */
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
    // A lost parser stays lost, and each further token would cost as much as an error does.
    if (tokens.at(-1)?.type === 'error') lost += 1;
    if (lost > LOST_TOKENS_MAX) break;
  }
  tokens.push(...parser.end());
  return tokens;
}

type SyntaxFault = { pos: [number, number]; message: string };

/** A tree built around a syntax error would yield faults that are none, so nothing else is checked then. */
function reportSyntaxFaults(errors: readonly SyntaxFault[], faults: FaultList): boolean {
  // What the watch refused, the parser may refuse again in other words.
  const news = errors.filter(({ pos }) => !faults.hasFaultAt(pos[0]));
  const causes = news.filter(({ message }) => !LOST_TOKEN.test(message));
  // Once lost, the parser complains of each token to the end of the text: the first one says it all.
  const kept = causes.length > 0 ? causes : news.slice(0, 1);
  for (const { pos, message } of kept) faults.add(pos[0], message);
  return news.length > 0;
}

const LOST_TOKEN = /^Unexpected .* in YAML (?:stream|document)/s;
