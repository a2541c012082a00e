import { YAML_DEPTH_MAX } from './limits.ts';
import type { FaultList } from './policy-fault.ts';

// Marks that the lexer of the yaml package emits between the slices of the text.
const DOCUMENT_MARK = '\x02';
const FLOW_ERROR_MARK = '\x18';
const SCALAR_MARK = '\x1f';

/** A text with this many refused lexemes is hostile; parsing stops. */
const REFUSED_LEXEMES_MAX = 64;

type LexemeVerdict = 'feed' | 'end of document' | 'stop';

/**
 * Watches the lexer's output and refuses anchors, aliases, tags, directives, a second document and deep nesting before the
 * parser builds anything from them.
 */
export class LexemeWatch {
  readonly #faults: FaultList;
  #offset = 0;
  #flowDepth = 0;
  #lineStart = 0;
  /** The columns of the open block indicators. */
  readonly #columns: number[] = [];
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
      return 'feed';
    }
    const verdict = this.#isScalarNext ? 'feed' : this.#judge(lexeme);
    this.#isScalarNext = false;
    this.#previous = lexeme;
    if (lexeme !== DOCUMENT_MARK && lexeme !== FLOW_ERROR_MARK) this.#pass(lexeme);
    return verdict;
  }

  #pass(lexeme: string): void {
    const lineEnd = lexeme.lastIndexOf('\n');
    if (lineEnd !== -1) this.#lineStart = this.#offset + lineEnd + 1;
    this.#offset += lexeme.length;
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
    // The lexer marks the first document, which may begin with "---".
    if (lexeme === '---' && this.#previous !== DOCUMENT_MARK) return this.#startDocument();
    if (lexeme === '-' || lexeme === '?') return this.#nestBlock();
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

  /** Each indicator to the right of the last one opens a level, in the same line or the next. */
  #nestBlock(): LexemeVerdict {
    const column = this.#offset - this.#lineStart;
    while ((this.#columns.at(-1) ?? -1) >= column) this.#columns.pop();
    this.#columns.push(column);
    return this.#checkDepth(this.#columns.length);
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
