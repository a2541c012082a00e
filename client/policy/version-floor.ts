import { closeSync, fsyncSync, openSync, readdirSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PolicyError, messageOf } from '../errors.ts';
import { hashedName } from '../hashed-name.ts';
import { makeDirectory } from '../make-directory.ts';

type Agent = { projectId: string; agentName: string };

/**
 * The smallest version of an agent that may be installed, kept in a directory across processes. The version is part of a file's name, and a
 * file is created before smaller ones are removed. So the version never goes down, even if processes share the directory or are killed.
 * Methods throw `state_unavailable` when the directory cannot be used.
 */
export class VersionFloor {
  readonly #directory: string;
  readonly #prefix: string;
  readonly #agent: Agent;

  constructor(directory: string, agent: Agent) {
    this.#directory = directory;
    this.#agent = agent;
    this.#prefix = `version-${hashedName(agent.projectId, agent.agentName)}-`;
  }

  /** Throws `version_rollback` for a version below the smallest; a higher one becomes the smallest, durably. */
  raise(version: number): void {
    const smallest = this.#smallest();
    if (version < smallest) {
      const message = `The bundle has version ${version}, but version ${smallest} was installed before (${this.#directory})`;
      throw new PolicyError('version_rollback', message);
    }
    if (version > smallest) this.#attempt(() => this.#write(version));
  }

  /** Throws `bundle_missing` if a signed version was installed before. */
  refuseUnsigned(): void {
    const smallest = this.#smallest();
    if (smallest === 0) return;
    const message = `The record has no bundle, but the signed version ${smallest} was installed before (${this.#directory})`;
    throw new PolicyError('bundle_missing', message);
  }

  /** 0 when none was installed. */
  #smallest(): number {
    return Math.max(0, ...this.#attempt(() => this.#versions()));
  }

  #versions(): number[] {
    makeDirectory(this.#directory, 0o700);
    return readdirSync(this.#directory)
      .filter((name) => name.startsWith(this.#prefix))
      .map((name) => Number(name.slice(this.#prefix.length)))
      .filter(Number.isSafeInteger);
  }

  #write(version: number): void {
    const file = openSync(this.#pathOf(version), 'w', 0o600);
    // For human readers only: the name holds the version, so a file that was cut short still counts.
    writeSync(file, `${JSON.stringify({ ...this.#agent, version })}\n`);
    fsyncSync(file);
    closeSync(file);
    // Windows cannot open a directory, and keeps names without it.
    if (process.platform !== 'win32') {
      const directory = openSync(this.#directory, 'r');
      fsyncSync(directory);
      closeSync(directory);
    }
    for (const older of this.#versions().filter((other) => other < version)) this.#remove(older);
  }

  #remove(version: number): void {
    try {
      unlinkSync(this.#pathOf(version));
    } catch {
      // Another process was faster, or a later call removes it: a smaller version does no harm.
    }
  }

  #pathOf(version: number): string {
    return join(this.#directory, `${this.#prefix}${version}`);
  }

  #attempt<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      const message = `The state directory ${this.#directory} cannot be used: ${messageOf(cause)}`;
      throw new PolicyError('state_unavailable', message, { cause });
    }
  }
}
