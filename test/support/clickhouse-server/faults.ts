/** The statements that a fault affects: inserts, everything else that a client sends, or all of it. */
export type FaultTarget = 'insert' | 'other' | 'all';

/**
 * The fault that the server shows instead of a good answer. `times` limits how often; without it, until it is cleared. `table` restricts it
 * to statements that name the table.
 */
export type Fault = { on: FaultTarget; times?: number; table?: string } & (
  | { does: 'fail'; with: FaultName }
  | { does: 'wait'; ms: number }
  /** Nothing is done, although the answer reports success. */
  | { does: 'nothing' }
  /** Nothing is done, and a proxy answers with an empty page and status 200. */
  | { does: 'page' }
  /** Before anything was done, or after everything was. */
  | { does: 'hang up'; when: 'before' | 'after' }
  /** The statement is carried out, or not. Then half of an answer is sent and the connection breaks. */
  | { does: 'half a body'; when: 'before' | 'after' }
);

/** Errors as a ClickHouse server words them, with the HTTP status that it gives them. */
const ERRORS = {
  TOO_MANY_PARTS: {
    code: 252,
    status: 500,
    text: 'Too many parts (3000 with average size of 1.00 KiB). Merges are processing significantly slower than inserts',
  },
  MEMORY_LIMIT_EXCEEDED: {
    code: 241,
    status: 500,
    text: '(total) memory limit exceeded: would use 7.20 GiB, maximum: 7.20 GiB',
  },
  TABLE_IS_READ_ONLY: { code: 242, status: 500, text: 'Table is in readonly mode' },
  READONLY: { code: 164, status: 500, text: 'Cannot execute query in readonly mode' },
  AUTHENTICATION_FAILED: {
    code: 516,
    status: 403,
    text: 'gate: Authentication failed: password is incorrect, or there is no user with such name',
  },
  NOT_ENOUGH_SPACE: { code: 243, status: 500, text: 'Cannot reserve 1.00 MiB, not enough space' },
  TIMEOUT_EXCEEDED: { code: 159, status: 408, text: 'Timeout exceeded: elapsed 10.1 seconds, maximum: 10' },
  SESSION_IS_LOCKED: { code: 373, status: 500, text: 'Sessions are not kept here' },
} as const;

export type FaultName = keyof typeof ERRORS;

/** A statement that failed; `message` is the whole text that a ClickHouse server sends. */
export class EngineError extends Error {
  readonly code: number;
  readonly status: number;

  constructor(message: string, { code, status }: { code: number; status: number }) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export function errorNamed(name: FaultName): EngineError {
  const { code, status, text } = ERRORS[name];
  return new EngineError(`Code: ${code}. DB::Exception: ${text}. (${name})`, { code, status });
}

/** The active faults. The first one that affects a statement acts. */
export class Faults {
  #faults: Fault[] = [];

  set(faults: Fault[]): void {
    this.#faults = faults.map((fault) => ({ ...fault }));
  }

  take(statement: string): Fault | undefined {
    const fault = this.#faults.find((one) => meets(one, statement));
    if (fault?.times === undefined) return fault;
    fault.times -= 1;
    if (fault.times <= 0) this.#faults = this.#faults.filter((one) => one !== fault);
    return fault;
  }
}

function meets({ on, table }: Fault, statement: string): boolean {
  if (table !== undefined && !statement.includes(table)) return false;
  if (on === 'all') return true;
  return /^\s*INSERT\b/i.test(statement.replace(/^\s*--.*$/gm, '').trimStart()) === (on === 'insert');
}
