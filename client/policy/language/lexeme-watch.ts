import { YAML_DEPTH_MAX } from './limits.ts';
import type { FaultList } from './policy-fault.ts';

// Marks that the lexer of the yaml package puts between the slices of the text.
const DOCUMENT_MARK = '\x02';
const FLOW_ERROR_MARK = '\x18';
const SCALAR_MARK = '\x1f';

/** After so many refused lexemes the text is hostile, and parsing the rest of it would only cost time. */
const REFUSED_LEXEMES_MAX = 64;

export type LexemeVerdict = 'feed' | 'end of document' | 'stop';

/**
 * Reads along with the lexer and refuses what version 1 has no use for, before anything is built from
 * it: anchors, aliases, tags, directives, a second document, and nesting that would cost time to parse.
 */
export class LexemeWatch {
  readonly #faults: FaultList;
  #offset = 0;
  #flowDepth = 0;
  #compactDepth = 0;
  #previous = '';
  #refused = 0;
  #isScalarNext = false;
  #hasDocument = false;

  constructor(faults: FaultList) {
    this.#faults = faults;
  }

  next(lexeme: string): LexemeVerdict {
    if (lexeme === SCALAR_MARK && !this.#isScalarNext) {
      this.#isScalarNext = true;
      this.#compactDepth = 0;
      return 'feed';
    }
    const verdict = this.#isScalarNext ? 'feed' : this.#judge(lexeme);
    this.#isScalarNext = false;
    this.#previous = lexeme;
    if (lexeme !== DOCUMENT_MARK && lexeme !== FLOW_ERROR_MARK) this.#offset += lexeme.length;
    return verdict;
  }

  #judge(lexeme: string): LexemeVerdict {
    switch (lexeme[0]) {
      case DOCUMENT_MARK:
        return this.#startDocument();
      case FLOW_ERROR_MARK:
        this.#flowDepth = 0;
        return 'feed';
      case '[':
      case '{':
        this.#flowDepth += 1;
        return this.#checkDepth(this.#flowDepth);
      case ']':
      case '}':
        this.#flowDepth -= 1;
        return 'feed';
      case '\n':
      case '\r':
        this.#compactDepth = 0;
        return 'feed';
      default:
        return this.#judgeIndicator(lexeme);
    }
  }

  #startDocument(): LexemeVerdict {
    if (!this.#hasDocument) {
      this.#hasDocument = true;
      return 'feed';
    }
    this.#faults.add(this.#offset, 'a policy is one document; a second one starts here');
    return 'end of document';
  }

  #judgeIndicator(lexeme: string): LexemeVerdict {
    // The first document may open with it; the lexer marks that document only.
    if (lexeme === '---' && this.#previous !== DOCUMENT_MARK) return this.#startDocument();
    if (lexeme === '-' || lexeme === '?') {
      this.#compactDepth += 1;
      return this.#checkDepth(this.#compactDepth);
    }
    if (lexeme.startsWith('*')) {
      const text = JSON.stringify(lexeme.replace(/:$/, ''));
      return this.#refuse(`aliases are not allowed; to mean the text, quote it: ${text}`);
    }
    if (lexeme.startsWith('&')) return this.#refuse('anchors are not allowed');
    if (lexeme.startsWith('!')) return this.#refuse('tags are not allowed');
    if (lexeme.startsWith('%') && !/^%YAML[ \t]+1\.2$/.test(lexeme)) {
      return this.#refuse('directives are not allowed');
    }
    return 'feed';
  }

  #checkDepth(depth: number): LexemeVerdict {
    if (depth <= YAML_DEPTH_MAX) return 'feed';
    this.#faults.add(this.#offset, `nested deeper than ${YAML_DEPTH_MAX} levels`);
    return 'stop';
  }

  #refuse(message: string): LexemeVerdict {
    this.#faults.add(this.#offset, message);
    this.#refused += 1;
    return this.#refused < REFUSED_LEXEMES_MAX ? 'feed' : 'stop';
  }
}
