import type { Engine, EngineResult, Statement } from './engine.ts';

type Gathered = { bodies: string[]; result: Promise<EngineResult> };

/**
 * Merges inserts as a ClickHouse server does with async_insert, which the embedded engine ignores: inserts with the same
 * text and settings share one, and its outcome.
 */
export class AsyncInserts {
  readonly #engine: Engine;
  readonly #gathered = new Map<string, Gathered>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  run(statement: Statement): Promise<EngineResult> {
    const { settings, data } = statement;
    if (settings.get('async_insert') !== '1' || data === '') return this.#engine.run(statement);
    const key = JSON.stringify([statement.database, statement.text, [...settings]]);
    let gathered = this.#gathered.get(key);
    if (gathered === undefined) {
      const bodies: string[] = [];
      const wait = Promise.withResolvers<void>();
      setTimeout(wait.resolve, Number(settings.get('async_insert_busy_timeout_max_ms')));
      const result = wait.promise.then(() => {
        this.#gathered.delete(key);
        return this.#engine.run({ ...statement, data: bodies.join('\n') });
      });
      this.#gathered.set(key, (gathered = { bodies, result }));
    }
    gathered.bodies.push(data.trimEnd());
    return gathered.result;
  }
}
