import { fetchBody, type AgentVersion } from './agent-version.ts';

/** A version as a fetch answers it, ready to send. */
export type ServedPolicy = { agent_version_id: string; version: number; etag: string; body: Buffer };

const BYTES_MAX = 128 * 1024 * 1024;

/** The policies that agents fetched last, by version id, up to a bound in bytes; the one used longest ago goes first. */
export class PolicyCache {
  readonly #served = new Map<string, ServedPolicy>();
  #bytes = 0;

  get(agentVersionId: string): ServedPolicy | undefined {
    const found = this.#served.get(agentVersionId);
    if (found === undefined) return undefined;
    this.#served.delete(agentVersionId);
    this.#served.set(agentVersionId, found);
    return found;
  }

  add(version: AgentVersion): ServedPolicy {
    const { agent_version_id, etag } = version;
    const body = Buffer.from(JSON.stringify(fetchBody(version)));
    const served = { agent_version_id, version: version.version, etag, body };
    if (!this.#served.has(agent_version_id)) this.#bytes += body.length;
    this.#served.set(agent_version_id, served);
    for (const [id, { body: old }] of this.#served) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#served.delete(id);
      this.#bytes -= old.length;
    }
    return served;
  }
}
