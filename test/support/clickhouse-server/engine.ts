import { Session } from 'chdb';
import { fileURLToPath } from 'node:url';
import { EngineError } from './faults.ts';

/** One statement with everything that came with it. `data` is the body of an insert. */
export type Statement = {
  database: string;
  text: string;
  data: string;
  format: string;
  settings: Map<string, string>;
  params: Map<string, string>;
};

export type EngineResult = { bytes: Buffer; readRows: number; readBytes: number };

const SESSIONS_MAX = 40;
const CONFIG = fileURLToPath(new URL('server.xml', import.meta.url));
/** Differs from statement to statement, so it is set each time and does not identify a session. */
const PER_STATEMENT = ['insert_deduplication_token', 'log_comment'] as const;
const STATUS_BY_CODE = new Map([
  [60, 404],
  [81, 404],
  [62, 400],
  [27, 400],
  [53, 400],
  [117, 400],
  [376, 400],
  [159, 408],
]);

/**
 * The embedded engine used as a server: concurrent statements, each with its own settings and parameters. A connection keeps its settings,
 * so only statements with the same settings share a connection.
 */
export class Engine {
  readonly #path: string;
  readonly #idle = new Map<string, Session[]>();
  readonly #waiting: (() => void)[] = [];
  #open = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Rejects with an EngineError. */
  async run(statement: Statement): Promise<EngineResult> {
    const key = signatureOf(statement);
    const session = await this.#take(key, statement);
    try {
      const set = `SET ${[...ownSettings(statement)].map(([name, value]) => `${name} = ${quoted(value)}`).join(', ')}`;
      // The data of an insert must be everything after its text.
      if (statement.data === '') return await exec(session, `${set}; ${statement.text}`, statement.format);
      await exec(session, set);
      return await exec(session, `${statement.text}\n${statement.data}`, statement.format);
    } finally {
      this.#give(key, session);
    }
  }

  async #take(key: string, statement: Statement): Promise<Session> {
    for (;;) {
      const idle = this.#idle.get(key)?.pop();
      if (idle !== undefined) return idle;
      if (this.#open < SESSIONS_MAX || this.#closeIdle()) break;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#open += 1;
    const session = new Session(this.#path, { connectionArgs: [`--config-file=${CONFIG}`] });
    try {
      await exec(session, `USE ${statement.database}`);
      for (const [name, value] of lastingSettings(statement))
        await exec(session, `SET ${name} = ${quoted(value)}`);
      return session;
    } catch (error) {
      session.close();
      this.#open -= 1;
      throw error;
    }
  }

  #give(key: string, session: Session): void {
    const idle = this.#idle.get(key);
    if (idle === undefined) this.#idle.set(key, [session]);
    else idle.push(session);
    this.#waiting.shift()?.();
  }

  #closeIdle(): boolean {
    for (const sessions of this.#idle.values()) {
      const session = sessions.pop();
      if (session === undefined) continue;
      session.close();
      this.#open -= 1;
      return true;
    }
    return false;
  }
}

/** The settings of a statement. */
function ownSettings({ settings, params }: Statement): [string, string][] {
  return [
    ...PER_STATEMENT.map((name): [string, string] => [name, settings.get(name) ?? '']),
    ...Array.from(params, ([name, value]): [string, string] => [`param_${name}`, value]),
  ];
}

function lastingSettings({ settings }: Statement): [string, string][] {
  return [...settings]
    .filter(([name]) => !PER_STATEMENT.some((other) => other === name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function signatureOf(statement: Statement): string {
  return JSON.stringify([statement.database, lastingSettings(statement)]);
}

async function exec(session: Session, text: string, format = 'TabSeparated'): Promise<EngineResult> {
  try {
    const result = await session.queryAsync(text, { format });
    return { bytes: Buffer.from(result.bytes()), readRows: result.rowsRead, readBytes: result.bytesRead };
  } catch (error) {
    const { message } = error as Error;
    const code = Number(/Code: (\d+)/.exec(message)?.[1] ?? 1000);
    throw new EngineError(message, { code, status: STATUS_BY_CODE.get(code) ?? 500 });
  }
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
