/** A server over Streamable HTTP. */
export type RemoteAddress = {
  url: string;
  /** Sent with every request; for the server's credentials. */
  headers: Readonly<Record<string, string>>;
};

type SessionRequest = { method?: string; headers?: Record<string, string>; body?: string };

const END_MS = 2_000;

/** A session of a server over Streamable HTTP (MCP, "Transports"). The server may give none; then it has no id. */
export class Session {
  readonly #address: RemoteAddress;
  id: string | undefined;
  version: string | undefined;

  constructor(address: RemoteAddress) {
    this.#address = address;
  }

  /** Redirects are not followed: credentials must not be sent to another host. */
  fetch({ headers, ...request }: SessionRequest, signal: AbortSignal): Promise<Response> {
    const { id, version } = this;
    const sent = {
      ...this.#address.headers,
      ...headers,
      ...(id !== undefined && { 'Mcp-Session-Id': id }),
      ...(version !== undefined && { 'MCP-Protocol-Version': version }),
    };
    return fetch(this.#address.url, { ...request, headers: sent, redirect: 'manual', signal });
  }

  /** Ends the session if the server supports it. */
  async end(): Promise<void> {
    if (this.id === undefined) return;
    const ended = this.fetch({ method: 'DELETE' }, AbortSignal.timeout(END_MS));
    await ended.then(({ body }) => body?.cancel()).catch(() => undefined);
  }
}
