import { JsonWriter } from '../policy/language/call-text.ts';
import { BIGINT_BITS_MAX } from '../policy/language/limits.ts';
import { addMember, Walk, type Copy, type Defect } from '../policy/language/walk.ts';
import {
  COPY_UNITS_MAX,
  COPY_UNITS_PER_CONTAINER,
  COPY_UNITS_PER_LEAF,
  EVENT_VALUES_MAX,
  NAME_LENGTH_MAX,
} from '../limits.ts';

const REDACTED = '[REDACTED]';
const CUT = '[Cut]';
/** Room for these marks, which are never cut. */
const TEXT_LENGTH_MIN = REDACTED.length;

const SECRET_KEY = /password|passwd|secret|token|api[_\- ]?key|credential|authorization/i;

/**
 * Copies any value as plain JSON data, as it is now; never throws. What JSON cannot hold (BigInt, NaN, infinities,
 * symbols, functions) becomes its text; cycles become "[Circular]", what throws "[Unreadable]", what exceeds about
 * 64 MiB of work "[Cut]".
 */
export function plainCopy(value: unknown): unknown {
  return new Recorder(false).record(value);
}

/** Copies like plainCopy and replaces every value whose key names a secret by "[REDACTED]". Idempotent; never throws. */
export function redact(value: unknown): unknown {
  return new Recorder(true).record(value);
}

/** A copy, and whether a part of the value was not read. */
export type Shaped = { plain: unknown; isCut: boolean };

/** Copies the parts of one event. All of them together are read up to EVENT_VALUES_MAX values; never throws. */
export class EventCopier {
  #valuesLeft = EVENT_VALUES_MAX;

  /** A text as it is; any other value as the JSON text of its copy. */
  readonly text = (value: unknown): string => {
    this.#valuesLeft -= 1;
    if (typeof value === 'string') return value;
    return value === undefined || value === null ? '' : jsonText(this.plain(value));
  };

  /** A text that the service stores: a model may call a tool by any name, and the denial must be recorded. */
  readonly name = (value: unknown, lengthMax = NAME_LENGTH_MAX): string =>
    storable(this.text(value), lengthMax);

  readonly redacted = (value: unknown): Shaped => this.#copy(value, true);

  readonly plain = (value: unknown): unknown => this.#copy(value, false).plain;

  #copy(value: unknown, redacts: boolean): Shaped {
    const recorder = new Recorder(redacts, this.#valuesLeft);
    const plain = recorder.record(value);
    this.#valuesLeft = recorder.valuesLeft;
    return { plain, isCut: recorder.isCut };
  }
}

/** At most this many code points. NUL and lone surrogates become U+FFFD. */
function storable(text: string, lengthMax: number): string {
  if (text.length <= lengthMax && text.isWellFormed() && !text.includes('\0')) return text;
  // A code point has at most two units; one that this slice halves is not among the first.
  const points = Array.from(text.slice(0, 2 * lengthMax));
  return points.slice(0, lengthMax).join('').toWellFormed().replaceAll('\0', '\ufffd');
}

class Recorder extends Walk<Copy> {
  readonly #redacts: boolean;
  valuesLeft: number;
  isCut = false;

  constructor(redacts: boolean, valuesMax = Infinity) {
    super();
    this.#redacts = redacts;
    this.valuesLeft = valuesMax;
    this.unitsLeft = COPY_UNITS_MAX;
    this.binaryBytesMax = Math.min(this.binaryBytesMax, valuesMax);
  }

  record(value: unknown): unknown {
    if (this.valuesLeft <= 0) return this.standIn('endless');
    const root: unknown[] = [];
    this.walk(value, root);
    return root[0];
  }

  /** Charges the size of the copy, not of the source: a copy of the copy is then cut at the same place. */
  protected override leaf(target: Copy, key: string, value: unknown): void {
    const plain = plainLeaf(value);
    const leaf =
      typeof plain === 'string' ? plain.slice(0, Math.max(TEXT_LENGTH_MIN, this.unitsLeft)) : plain;
    this.#charge(COPY_UNITS_PER_LEAF + (typeof leaf === 'string' ? leaf.length : 0));
    addMember(target, key, leaf);
  }

  protected override open(target: Copy, key: string, _source: object, isArray: boolean): Copy {
    this.#charge(COPY_UNITS_PER_CONTAINER);
    const copy: Copy = isArray ? [] : {};
    addMember(target, key, copy);
    return copy;
  }

  #charge(units: number): void {
    this.valuesLeft -= 1;
    this.unitsLeft = this.valuesLeft > 0 ? this.unitsLeft - units : 0;
  }

  protected override redacted(key: string): string | undefined {
    this.unitsLeft -= key.length;
    return this.#redacts && SECRET_KEY.test(key) ? REDACTED : undefined;
  }

  protected override standIn(defect: Defect, detail?: unknown): string {
    this.isCut ||= defect === 'binary' || defect === 'endless';
    if (defect === 'binary') return `[Binary, ${String(detail)} bytes]`;
    if (defect === 'endless') return CUT;
    return defect === 'circular' ? '[Circular]' : '[Unreadable]';
  }

  /** A record shows any object as JSON would. */
  protected override admit(): void {}
}

function plainLeaf(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      // Converting more digits takes seconds.
      return BigInt.asIntN(BIGINT_BITS_MAX, value) === value ? String(value) : CUT;
    case 'symbol':
      return String(value);
    case 'function':
      return Function.prototype.toString.call(value);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    default:
      return value;
  }
}

/** The JSON text of plain data of any depth. */
export function jsonText(plain: unknown): string {
  try {
    return JSON.stringify(plain) ?? 'null';
  } catch {
    // JSON.stringify recurses and overflows on deep nesting.
    return new JsonWriter(Infinity).write(plain);
  }
}
