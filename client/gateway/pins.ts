import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { hashedName } from '../hashed-name.ts';
import { isObject, parsedJson } from '../json.ts';
import type { Logger } from '../logger.ts';
import { makeDirectory } from '../make-directory.ts';

/** The file in a state directory with the pins of the server that these words name. */
export function pinFileIn(stateDir: string | undefined, names: readonly string[]): string | undefined {
  if (stateDir === undefined) return undefined;
  return join(stateDir, `pins-${hashedName(...names)}.json`);
}

type Kept = { agent_version_id: string | null; tools: Record<string, string> };

/**
 * The hashes of the tool descriptions when they were first seen. A tool whose description changed is held until the agent is registered
 * again. Kept in a file if there is one, and only in memory while it cannot be written.
 */
export class Pins {
  readonly #path: string | undefined;
  readonly #held = new Set<string>();
  readonly #logger: Logger;
  #kept: Kept;
  #isUnsaved = false;

  constructor(logger: Logger, path?: string) {
    this.#path = path;
    this.#logger = logger;
    this.#kept = (path === undefined ? undefined : keptIn(path)) ?? { agent_version_id: null, tools: {} };
  }

  /** Compares listed tools with their pins, and pins the new ones. Returns the names of those that are now held. */
  check(tools: readonly unknown[], agentVersionId: string | null): string[] {
    if (this.#kept.agent_version_id !== agentVersionId)
      this.#kept = { agent_version_id: agentVersionId, tools: {} };
    const pinned = new Map(Object.entries(this.#kept.tools));
    const held: string[] = [];
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
      const { name } = tool;
      const hash = hashOf(tool);
      const isHeld = (pinned.get(name) ?? hash) !== hash;
      if (isHeld) {
        held.push(name);
        this.#held.add(name);
      } else {
        pinned.set(name, hash);
        // The list may name a tool twice.
        if (!held.includes(name)) this.#held.delete(name);
      }
    }
    this.#keep(pinned);
    return held;
  }

  isHeld(tool: string): boolean {
    return this.#held.has(tool);
  }

  #keep(pinned: ReadonlyMap<string, string>): void {
    const tools = Object.fromEntries(pinned);
    const isChanged = JSON.stringify(tools) !== JSON.stringify(this.#kept.tools);
    this.#kept = { ...this.#kept, tools };
    if (this.#path !== undefined && (isChanged || this.#isUnsaved)) this.#save(this.#path);
  }

  #save(path: string): void {
    try {
      makeDirectory(dirname(path), 0o700);
      const beside = `${path}.${process.pid}`;
      writeFileSync(beside, `${JSON.stringify(this.#kept)}\n`, { mode: 0o600 });
      renameSync(beside, path);
      this.#isUnsaved = false;
    } catch (error) {
      const problem = messageOf(error);
      if (!this.#isUnsaved)
        this.#logger.warn('The pins cannot be written; those of new tools are lost when the gateway ends', {
          problem,
        });
      this.#isUnsaved = true;
    }
  }
}

/** Undefined without a file. Throws for a broken file: dropping pins must be a deliberate decision. */
function keptIn(path: string): Kept | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
  const kept = parsedJson(text);
  if (!isKept(kept)) throw new Error(`${path} is damaged. Restore it, or delete it to pin all tools again.`);
  return kept;
}

function isKept(value: unknown): value is Kept {
  return isObject(value) && value['agent_version_id'] !== undefined && isObject(value['tools']);
}

/** Covers everything about a tool that a model may see, regardless of the order of the keys. */
function hashOf(listed: Record<string, unknown>): string {
  const { _meta, icons: _icons, ...tool } = listed;
  const sorted = (_key: string, value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return createHash('sha256').update(JSON.stringify(tool, sorted)).digest('hex');
}
