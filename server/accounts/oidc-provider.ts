import type { ClientAuth, Configuration, TokenEndpointResponse } from 'openid-client';
import { BoundedQueue } from '../bounded-queue.ts';
import type { OidcConfig } from '../config.ts';
import { RequestError } from '../errors.ts';
import {
  SIGN_ON_CALLS_MS_MAX,
  SIGN_ONS_RUNNING_MAX,
  SIGN_ONS_WAITING_MAX,
  STATEMENT_WAIT_MS_MAX,
} from '../limits.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { isEmail } from './credentials.ts';

/** The values that the browser keeps between the start of a sign-on and its callback. */
export type SignOn = { state: string; nonce: string; verifier: string };

/** A person as the provider describes them. */
export type Person = {
  issuer: string;
  subject: string;
  /** Undefined unless the provider says that the address is verified. */
  email: string | undefined;
  groups: string[];
};

type Library = typeof import('openid-client');
type Ready = { client: Library; configuration: Configuration };
type Claims = { sub: string } & Record<string, unknown>;

const SCOPE = 'openid email profile';
/** OpenID Connect Core 1.0 section 2. */
const SUBJECT_CHARS_MAX = 255;
/** The provider's metadata is read again after this time. */
const METADATA_MS_MAX = 60 * 60 * 1000;

/**
 * The client of the OpenID Connect provider: authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0 section 3.1, RFC
 * 7636). The library is loaded at the first sign-on. Rejects with provider_unavailable, or with token_invalid if the callback is not valid.
 */
export class OidcProvider {
  readonly #config: OidcConfig;
  readonly #redirectUri: string;
  readonly #calls = new BoundedQueue({
    runningMax: SIGN_ONS_RUNNING_MAX,
    waitingMax: SIGN_ONS_WAITING_MAX,
    waitMsMax: STATEMENT_WAIT_MS_MAX,
  });
  #discovery: { ready: Promise<Ready>; atMs: number } | undefined;

  constructor(config: OidcConfig, redirectUri: string) {
    this.#config = config;
    this.#redirectUri = redirectUri;
  }

  /** The provider's URL to redirect the browser to. */
  async start(): Promise<{ url: URL; signOn: SignOn }> {
    const { client, configuration } = await this.#discover();
    const signOn = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const { groupsClaim } = this.#config;
    const hasScope = configuration.serverMetadata().scopes_supported?.includes(groupsClaim) === true;
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      scope: hasScope ? `${SCOPE} ${groupsClaim}` : SCOPE,
      state: signOn.state,
      nonce: signOn.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(signOn.verifier),
      code_challenge_method: 'S256',
    });
    return { url, signOn };
  }

  /** The person that the provider identified with these query parameters. */
  finish(search: string, signOn: SignOn): Promise<Person> {
    const late = () => providerUnavailable(new Error('The calls to the provider took too long'));
    // Each call has its own timeout. Together they must leave time for a 503 within 5 s.
    return withTimeout(this.#identify(search, signOn), SIGN_ON_CALLS_MS_MAX, late);
  }

  #identify(search: string, { state, nonce, verifier }: SignOn): Promise<Person> {
    return this.#calls.run(async () => {
      const ready = await this.#discover();
      try {
        const tokens = await ready.client.authorizationCodeGrant(
          ready.configuration,
          new URL(`${this.#redirectUri}${search}`),
          { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
        );
        const claims = await this.#claimsOf(ready, { tokens, claims: tokens.claims() as Claims });
        return personFrom(claims, { ...this.#config, issuer: ready.configuration.serverMetadata().issuer });
      } catch (error) {
        throw isAway(error) ? providerUnavailable(error) : signOnInvalid(error);
      }
    });
  }

  /** Some providers put the claims of scopes into the ID token, others return them only from the UserInfo endpoint. */
  async #claimsOf(
    { client, configuration }: Ready,
    { tokens, claims }: { tokens: TokenEndpointResponse; claims: Claims },
  ): Promise<Claims> {
    const isComplete = 'email' in claims && this.#config.groupsClaim in claims;
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  }

  #discover(): Promise<Ready> {
    const nowMs = performance.now();
    if (this.#discovery === undefined || nowMs - this.#discovery.atMs > METADATA_MS_MAX) {
      const discovery = { ready: discover(this.#config), atMs: nowMs };
      this.#discovery = discovery;
      discovery.ready.catch(() => {
        if (this.#discovery === discovery) this.#discovery = undefined;
      });
    }
    return this.#discovery.ready;
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Ready> {
  const client = await import('openid-client');
  const basic = client.ClientSecretBasic(clientSecret);
  const post = client.ClientSecretPost(clientSecret);
  // OpenID Connect Discovery 1.0 section 3 defaults to Basic if the provider does not say.
  const authenticate: ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
  try {
    const configuration = await client.discovery(issuer, clientId, undefined, authenticate, {
      timeout: STATEMENT_WAIT_MS_MAX / 1000,
      execute: [
        // Verifies the signature of ID tokens; otherwise only TLS to the token endpoint would protect them.
        client.enableNonRepudiationChecks,
        // Only an issuer on this machine may be http; see the configuration.
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    });
    return { client, configuration };
  } catch (error) {
    throw providerUnavailable(error);
  }
}

function personFrom(
  claims: Claims,
  { issuer, groupsClaim }: { issuer: string; groupsClaim: string },
): Person {
  const { sub: subject, email, email_verified } = claims;
  // Without a subject, everyone would share one account.
  if (subject === '' || subject.length > SUBJECT_CHARS_MAX)
    throw Object.assign(new Error('The subject is empty or too long'), { code: 'SUBJECT_INVALID' });
  const groups = claims[groupsClaim];
  const isVerified = email_verified === true && typeof email === 'string' && isEmail(email);
  return {
    issuer,
    subject,
    email: isVerified ? email : undefined,
    groups: (Array.isArray(groups) ? groups : [groups]).filter((group) => typeof group === 'string'),
  };
}

/** No connection, no answer in time, or a 5xx answer. */
function isAway(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { code, status } = cause as { code?: unknown; status?: unknown };
    if (code === 'OAUTH_TIMEOUT' || (typeof status === 'number' && status >= 500)) return true;
    if (cause instanceof TypeError && cause.message === 'fetch failed') return true;
    if (cause.cause instanceof Response) return cause.cause.status >= 500;
  }
  return false;
}

function providerUnavailable(cause: unknown): RequestError {
  const detail = 'The single sign-on provider does not answer as it should. Try again later';
  return new RequestError('provider_unavailable', detail, { cause });
}

/** The code of the library's error says which check failed. The message could quote outside input. */
function signOnInvalid(cause: unknown): RequestError {
  const { code, error } = cause as { code?: unknown; error?: unknown };
  const reason = [error, code].find((text) => typeof text === 'string' && /^\w{1,60}$/.test(text));
  return new RequestError('token_invalid', `The sign-in was not completed (${String(reason)}). Start again`, {
    cause,
  });
}
