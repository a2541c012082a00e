import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
  decodeJwt,
  importJWK,
} from 'jose';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Provider } from 'oidc-provider';
import { listen } from './listen.ts';

type Claims = { email?: string; email_verified?: boolean; groups?: string[] };
export type TestProvider = {
  issuer: string;
  /** The claims of each person, by login name, which is the subject. */
  people: Map<string, Claims>;
  /** Changes the claims of ID tokens before they are signed again; `key` signs instead of the provider's. */
  forge: { change: (claims: JWTPayload) => JWTPayload; key?: CryptoKey } | undefined;
  /** How long it waits before it handles a request, by path. */
  waitMs: Record<string, number>;
  stop: () => Promise<void>;
};

export const CLIENT = { client_id: 'gatehouse', client_secret: 'a secret of the client' };

/** A restarted provider has the same key. */
let signingKey: Promise<JWK> | undefined;

async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'test' };
}

/** An OpenID Connect provider on its own port, with a page where anyone signs in by name. */
export async function startOidcProvider(redirectUri: string, port = 0): Promise<TestProvider> {
  const jwk = await (signingKey ??= newSigningKey());
  const server = createServer();
  const issuer = `http://localhost:${await listen(server, port)}`;
  const test: TestProvider = {
    issuer,
    people: new Map(),
    forge: undefined,
    waitMs: {},
    stop: () => closed(server),
  };
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'] },
    cookies: { keys: ['one key for tests'] },
    jwks: { keys: [jwk] },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...test.people.get(sub) }) }),
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    features: { devInteractions: { enabled: true } },
  });
  provider.use(async (ctx, next) => {
    await sleep(test.waitMs[ctx.path] ?? 0);
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path !== '/token' || test.forge === undefined || typeof body?.id_token !== 'string') return;
    const { change, key = await importJWK(jwk, 'RS256') } = test.forge;
    const claims = change(decodeJwt(body.id_token));
    ctx.body = {
      ...body,
      id_token: await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'test' }).sign(key),
    };
  });
  const handle = provider.callback();
  server.on('request', (req, res) => void handle(req, res));
  return test;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** A browser without pages: it keeps cookies by host, and follows no redirect automatically. */
export class CookieJar {
  readonly #cookies = new Map<string, Map<string, string>>();

  async fetch(url: URL, init: RequestInit = {}): Promise<Response> {
    const own = this.#cookies.get(url.host) ?? new Map<string, string>();
    this.#cookies.set(url.host, own);
    const headers = {
      ...(init.headers as Record<string, string>),
      Cookie: [...own].map(([name, value]) => `${name}=${value}`).join('; '),
    };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') own.delete(name);
      else own.set(name, value);
    }
    return response;
  }

  cookie(host: string, name: string): string | undefined {
    return this.#cookies.get(host)?.get(name);
  }
}

/** Signs in at the provider and consents. Returns the address that the provider redirects the browser to. */
export async function signOnAt(jar: CookieJar, start: URL, login: string, redirectUri: string): Promise<URL> {
  let url = start;
  for (let steps = 0; steps < 20; steps += 1) {
    if (url.href.startsWith(redirectUri)) return url;
    const response = await jar.fetch(url);
    let location = response.headers.get('location');
    if (location === null) {
      const page = await response.text();
      const action = /action="([^"]+)"/.exec(page)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (action === undefined || prompt === undefined) throw new Error(`The provider shows: ${page}`);
      const body = new URLSearchParams({ prompt, login, password: 'any' });
      const answer = await jar.fetch(new URL(action, url), { method: 'POST', body });
      location = answer.headers.get('location');
    }
    if (location === null) throw new Error('The provider leads nowhere');
    url = new URL(location, url);
  }
  throw new Error('The provider redirects without end');
}
