import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import type { PolicySource, ResolveOptions } from '../../client/index.ts';
import type { Logger } from '../../client/logger.ts';
import { createResolvePolicy } from '../../client/policy/resolve-policy.ts';
import { messageOf, PolicyError } from '../../client/errors.ts';

const DOCUMENT = new URL('../../docs/drills.md', import.meta.url);
const ACTOR_WIDTH = 26;

/** A process that uses the client. It does not share the trust of other processes. */
export type DrillClient = {
  name: string;
  /** Resolves the policy, or records why it cannot. */
  start(): Promise<void>;
  refresh(): Promise<void>;
  /** Of the policy in force. */
  agentVersionId(): string | null | undefined;
};

/** Records what clients log and decide, as docs/drills.md shows it. */
export class Drill {
  readonly #names = new Map<string, string>();
  #text = '';

  /** Replaces every occurrence of the text, which differs from run to run, by the name. */
  name(text: string, name: string): void {
    this.#names.set(text, name);
  }

  step(title: string): void {
    this.#text += `${this.#text === '' ? '' : '\n'}# ${title}\n`;
  }

  say(actor: string, text: string): void {
    let line = text;
    for (const [found, name] of this.#names) line = line.replaceAll(found, name);
    this.#text += `${actor.padEnd(ACTOR_WIDTH)}${line}\n`;
  }

  logger(actor: string): Logger {
    const log = (level: string) => (message: string, context?: Record<string, unknown>) => {
      const { agent_name: _agent, base_url: _url, ...rest } = context ?? {};
      const details = Object.entries(rest).map(([key, value]) => `${key}: ${String(value)}`);
      this.say(actor, [level, message, ...details].join(' | '));
    };
    return { debug: log('debug'), info: log('info'), warn: log('WARN'), error: log('ERROR') };
  }

  client(name: string, options: ResolveOptions, now: () => number = Date.now): DrillClient {
    const resolvePolicy = createResolvePolicy({ now });
    const logger = this.logger(name);
    let source: PolicySource | undefined;
    const inForce = () => `in force: version ${source?.agentVersionId}`;
    return {
      name,
      start: async () => {
        try {
          source = await resolvePolicy({ ...options, logger });
          this.say(name, `starts, ${inForce()}`);
        } catch (error) {
          if (!(error instanceof PolicyError)) throw error;
          this.say(name, `DOES NOT START | ${error.code} | ${messageOf(error)}`);
        }
      },
      refresh: async () => {
        await source?.refresh();
        this.say(name, inForce());
      },
      agentVersionId: () => source?.agentVersionId,
    };
  }

  /** Compares with the block under this heading of docs/drills.md. UPDATE_GOLDEN=1 writes it. */
  expectDocumented(heading: string): void {
    const document = readFileSync(DOCUMENT, 'utf8');
    const block = new RegExp(`(## ${heading}\\n[^]*?\`\`\`text\\n)([^]*?)(\`\`\`\\n)`);
    const [, , shown] = block.exec(document) ?? [];
    if (process.env['UPDATE_GOLDEN'] === '1')
      writeFileSync(
        DOCUMENT,
        document.replace(block, (_all, before: string, _old, after: string) => before + this.#text + after),
      );
    else expect(this.#text).to.equal(shown);
  }
}
