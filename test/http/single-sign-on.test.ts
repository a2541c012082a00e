import { expect } from 'chai';
import { generateKeyPair, type JWTPayload } from 'jose';
import {
  call,
  codeOf,
  jsonOf,
  logIn,
  mailedToken,
  newEmail,
  newPerson,
  register,
  requestToken,
  useToken,
  demoCookie,
} from '../support/accounts.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { freePort } from '../support/listen.ts';
import {
  CLIENT,
  CookieJar,
  signOnAt,
  startOidcProvider,
  type TestProvider,
} from '../support/oidc-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

type Me = { id: string; email: string; is_verified: boolean; projects: { id: string; name: string }[] };

describe('single sign-on', () => {
  let server: ClickHouseServer;
  let service: TestService;
  let provider: TestProvider;
  let env: Record<string, string>;
  let base: string;
  let redirectUri: string;
  before(async () => {
    const port = await freePort();
    base = `http://localhost:${port}`;
    redirectUri = `${base}/v1/auth/oidc/callback`;
    provider = await startOidcProvider(redirectUri);
    const groups = (projectId: string) => ({
      readers: [{ project_id: projectId, role: 'viewer' }],
      leads: [{ project_id: projectId, role: 'admin' }],
    });
    server = await startClickHouse();
    const first = await startTestService({ env: onServer(server) });
    await first.stop();
    env = onServer(server, {
      GATE_DASHBOARD_URL: base,
      GATE_OIDC_ISSUER: provider.issuer,
      GATE_OIDC_CLIENT_ID: CLIENT.client_id,
      GATE_OIDC_CLIENT_SECRET: CLIENT.client_secret,
      GATE_OIDC_GROUPS: JSON.stringify(groups(first.project_id)),
    });
    service = await startTestService({ dataDir: first.dataDir, env: { ...env, GATE_PORT: String(port) } });
  });
  after(async () => {
    await service.stop();
    await server.kill();
    await provider.stop();
  });
  afterEach(() => (provider.forge = undefined));

  const start = async (jar: CookieJar, at = base) => {
    const response = await jar.fetch(new URL(`${at}/v1/auth/oidc/start`));
    return new URL(response.headers.get('location') ?? 'no://location');
  };
  const back = async (jar: CookieJar, login: string) => signOnAt(jar, await start(jar), login, redirectUri);
  const meOf = async (jar: CookieJar) => jsonOf<Me>(jar.fetch(new URL(`${base}/v1/auth/me`)));
  /** The whole sign-on; resolves with the account. */
  const signOn = async (login: string) => {
    const jar = new CookieJar();
    const response = await jar.fetch(await back(jar, login));
    expect([response.status, response.headers.get('location')]).to.deep.equal([302, `${base}/`]);
    return { jar, me: await meOf(jar) };
  };
  const roleIn = async (jar: CookieJar) => {
    const { id } = await meOf(jar);
    const response = await jar.fetch(new URL(`${base}/v1/projects/${service.project_id}/members`));
    if (response.status !== 200) return response.status;
    const { items } = await jsonOf<{ items: { account_id: string; role: string }[] }>(response);
    return items.find((one) => one.account_id === id)?.role;
  };

  it('sends the browser to the provider with PKCE, state and nonce', async () => {
    const { origin, searchParams } = await start(new CookieJar());

    expect(origin).to.equal(provider.issuer);
    const { state, nonce, code_challenge, ...rest } = Object.fromEntries(searchParams);
    for (const random of [state, nonce, code_challenge]) expect(random).to.match(/^[\w-]{43}$/);
    expect(rest).to.deep.equal({
      client_id: CLIENT.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
  });

  it('ends on the sign-in page if a next page was given, which leads to that page', async () => {
    const jar = new CookieJar();
    const at = (next: string) => new URL(`${base}/v1/auth/oidc/start?next=${encodeURIComponent(next)}`);
    const started = await jar.fetch(at('/projects/p/decisions?outcome=deny'));
    const to = new URL(started.headers.get('location') ?? 'no://location');
    const { headers } = await jar.fetch(await signOnAt(jar, to, 'may', redirectUri));

    expect(headers.get('location')).to.equal(
      `${base}/sign-in?next=%2Fprojects%2Fp%2Fdecisions%3Foutcome%3Ddeny`,
    );
    for (const next of ['https://evil.example', '/ü', `/${'x'.repeat(1000)}`])
      expect((await jar.fetch(at(next))).status).to.equal(422);
  });

  it('creates an account at the first sign-in, and finds it by issuer and subject at the next', async () => {
    const email = newEmail();
    provider.people.set('ada', { email, email_verified: true });

    const { me } = await signOn('ada');
    provider.people.set('ada', { email: newEmail(), email_verified: true });
    const again = await signOn('ada');

    expect(me).to.include({ email, is_verified: true });
    expect(again.me.id).to.equal(me.id);
    expect(service.output()).to.contain('/v1/auth/oidc/callback?code=[redacted]&state=[redacted]');
  });

  it('creates one account and one project for a person who signs in three times at once', async () => {
    provider.people.set('tri', { email: newEmail(), email_verified: true });
    const jars = [new CookieJar(), new CookieJar(), new CookieJar()];
    const answers = await Promise.all(jars.map(async (jar) => jar.fetch(await back(jar, 'tri'))));

    expect(answers.map(({ status }) => status)).to.deep.equal([302, 302, 302]);
    const accounts = await Promise.all(jars.map(meOf));
    expect(new Set(accounts.map(({ id }) => id)).size).to.equal(1);
    expect(accounts.map(({ projects }) => projects.length)).to.deep.equal([1, 1, 1]);
  });

  it('creates one account for a person who signs in at two services at once', async () => {
    provider.people.set('duo', { email: newEmail(), email_verified: true });
    const other = await startTestService({ dataDir: service.dataDir, env });
    const accountsNow = async () => {
      const [row] = await server.query<{ n: string }>('SELECT uniqExact(account_id) AS n FROM accounts');
      return Number(row?.n);
    };
    const callbacks = [];
    for (const at of [base, other.url]) {
      const jar = new CookieJar();
      const { pathname, search } = await signOnAt(jar, await start(jar, at), 'duo', redirectUri);
      callbacks.push({ jar, url: new URL(`${at}${pathname}${search}`) });
    }
    const before = await accountsNow();
    // So that both find the e-mail free.
    await server.fail({ on: 'insert', table: 'accounts', does: 'wait', ms: 1000, times: 2 });
    const answers = await Promise.all(callbacks.map(({ jar, url }) => jar.fetch(url)));
    await server.fail();
    await other.stop();

    expect(answers.map(({ status }) => status)).to.deep.equal([302, 302]);
    expect((await accountsNow()) - before).to.equal(1);
  });

  it('sets memberships by groups: the highest role, changed and ended at the next sign-in', async () => {
    const roles: unknown[] = [];
    for (const groups of [['readers', 'leads', 'others'], ['readers'], [], ['leads'], undefined]) {
      provider.people.set('grace', groups === undefined ? {} : { groups });
      roles.push(await roleIn((await signOn('grace')).jar));
    }

    expect(roles).to.deep.equal(['admin', 'viewer', 403, 'admin', 403]);
    const activity = call(service, `/v1/projects/${service.project_id}/activity`, {
      cookie: await demoCookie(service),
    });
    const { items } = await jsonOf<{ items: { event: string; detail: Record<string, string> }[] }>(activity);
    const changes = items.filter(({ event }) => event.startsWith('member_'));
    expect(changes.map(({ event, detail: { role, by } }) => [event, role, by])).to.deep.equal([
      ['member_removed', undefined, 'single sign-on'],
      ['member_added', 'admin', 'single sign-on'],
      ['member_removed', undefined, 'single sign-on'],
      ['member_role_changed', 'viewer', 'single sign-on'],
      ['member_added', 'admin', 'single sign-on'],
    ]);
  });

  it('leaves memberships that members gave, and the last owner', async () => {
    const owner = await demoCookie(service);
    const given = newEmail();
    provider.people.set('joan', { email: given, email_verified: true });
    await signOn('joan');
    const path = `/v1/projects/${service.project_id}/members`;
    await call(service, path, { cookie: owner, body: { email: given, role: 'editor' } });

    provider.people.set('joan', { groups: ['readers'] });
    const withGroup = await roleIn((await signOn('joan')).jar);
    provider.people.set('joan', {});

    expect([withGroup, await roleIn((await signOn('joan')).jar)]).to.deep.equal(['editor', 'editor']);
  });

  it('ends a membership that a group gave, even if its role was changed by hand', async () => {
    const owner = await demoCookie(service);
    provider.people.set('mary', { groups: ['readers'] });
    const { jar, me } = await signOn('mary');
    const path = `/v1/projects/${service.project_id}/members/${me.id}`;
    const changed = await call(service, path, { method: 'PUT', cookie: owner, body: { role: 'editor' } });
    const byHand = await roleIn(jar);
    const roles: unknown[] = [];
    for (const groups of [['leads'], []]) {
      provider.people.set('mary', { groups });
      roles.push(await roleIn((await signOn('mary')).jar));
    }

    expect([changed.status, byHand, ...roles]).to.deep.equal([200, 'editor', 'admin', 403]);
  });

  it('gives an account no e-mail that is not a valid address', async () => {
    provider.people.set('eve', { email: 'a b@c, d@e', email_verified: true });

    expect((await signOn('eve')).me.email).to.equal('');
  });

  it('links an account whose e-mail is verified on both sides', async () => {
    const ann = await newPerson(service);
    await useToken(service, 'verify', await mailedToken(service, 'verify', ann.email));
    provider.people.set('ann', { email: ann.email.toUpperCase(), email_verified: true });

    expect((await signOn('ann')).me.id).to.equal(ann.id);
  });

  it('links the account that an earlier sign-in made before the store failed', async () => {
    const email = newEmail();
    provider.people.set('iris', { email, email_verified: true });
    const jar = new CookieJar();
    const callback = await back(jar, 'iris');
    await server.fail({ on: 'insert', table: 'accounts', does: 'hang up', when: 'after', times: 1 });

    const { status } = await jar.fetch(callback);
    await server.fail();

    expect(status).to.equal(503);
    expect((await signOn('iris')).me).to.include({ email, is_verified: true });
  });

  const takeovers: [string, { here: boolean; there: boolean | undefined }][] = [
    ['the provider has not verified', { here: true, there: false }],
    ['the provider says nothing of', { here: true, there: undefined }],
    ['nobody has verified here', { here: false, there: true }],
  ];
  for (const [what, { here, there }] of takeovers) {
    it(`takes over no account by an e-mail that ${what}`, async () => {
      const victim = await newPerson(service);
      if (here) await useToken(service, 'verify', await mailedToken(service, 'verify', victim.email));
      const verified = there === undefined ? {} : { email_verified: there };
      provider.people.set(`mallory ${what}`, { email: victim.email, ...verified });

      const { me } = await signOn(`mallory ${what}`);

      expect(me.id).not.to.equal(victim.id);
      expect(me.email).to.equal('');
      expect((await logIn(service, victim.email)).status).to.equal(200);
    });
  }

  const forgeries: [string, (claims: JWTPayload) => JWTPayload][] = [
    ['another nonce', (claims) => ({ ...claims, nonce: 'another' })],
    ['no nonce', ({ nonce: _nonce, ...claims }) => claims],
    ['another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['another audience', (claims) => ({ ...claims, aud: 'another client' })],
    ['an expiry in the past', (claims) => ({ ...claims, exp: 1 })],
    ['an empty subject', (claims) => ({ ...claims, sub: '' })],
    ['a subject of 256 characters', (claims) => ({ ...claims, sub: 'x'.repeat(256) })],
  ];
  for (const [what, change] of forgeries) {
    it(`refuses an ID token with ${what}`, async () => {
      const jar = new CookieJar();
      provider.forge = { change };
      const callback = await back(jar, 'eve');

      const response = await jar.fetch(callback);

      expect([response.status, await codeOf(response)]).to.deep.equal([400, 'token_invalid']);
      expect(jar.cookie(new URL(base).host, 'gate_session')).to.equal(undefined);
    });
  }

  it('refuses an ID token that the provider did not sign', async () => {
    const jar = new CookieJar();
    const { privateKey } = await generateKeyPair('RS256');
    provider.forge = { change: (claims) => claims, key: privateKey };
    const response = await jar.fetch(await back(jar, 'eve'));

    expect([response.status, await codeOf(response)]).to.deep.equal([400, 'token_invalid']);
  });

  it('refuses a forged state, another browser, another issuer in the answer, and a second use', async () => {
    const jar = new CookieJar();
    const callback = await back(jar, 'eve');
    const changed = (name: string, value: string) => {
      const url = new URL(callback);
      url.searchParams.set(name, value);
      return url;
    };
    const statusOf = async (other: CookieJar, url: URL) => {
      const response = await other.fetch(url);
      return [response.status, response.status === 302 ? '' : await codeOf(response)];
    };
    const forged = await statusOf(jar, changed('state', 'forged'));
    const stranger = await statusOf(new CookieJar(), callback);
    const mixedUp = new CookieJar();
    const issuer = new URL(await back(mixedUp, 'eve'));
    issuer.searchParams.set('iss', 'https://evil.example');
    const fresh = new CookieJar();
    const once = await back(fresh, 'eve');

    const refused = [400, 'token_invalid'];
    expect([forged, stranger, await statusOf(mixedUp, issuer)]).to.deep.equal([refused, refused, refused]);
    expect([await statusOf(fresh, once), await statusOf(fresh, once)]).to.deep.equal([[302, ''], refused]);
  });

  it('shows a person in a browser what failed on the sign-in page', async () => {
    const headers = { Accept: 'text/html,*/*' };

    const response = await new CookieJar().fetch(new URL(`${redirectUri}?code=x&state=y`), { headers });

    expect([response.status, response.headers.get('location')]).to.deep.equal([
      302,
      `${base}/sign-in?sso=token_invalid`,
    ]);
  });

  it('answers 503 while the provider is unavailable, and works again when it is back', async () => {
    const jar = new CookieJar();
    const callback = await back(jar, 'eve');
    const { port } = new URL(provider.issuer);
    await provider.stop();

    const response = await jar.fetch(callback);
    const answer = [response.status, response.headers.get('Retry-After'), await codeOf(response)];
    const { people } = provider;
    provider = await startOidcProvider(redirectUri, Number(port));
    for (const [login, claims] of people) provider.people.set(login, claims);

    expect(answer).to.deep.equal([503, '5', 'provider_unavailable']);
    await signOn('eve');
  });
});

describe('single sign-on with a slow provider', () => {
  let service: TestService;
  let provider: TestProvider;
  let redirectUri: string;
  before(async () => {
    const port = await freePort();
    redirectUri = `http://localhost:${port}/v1/auth/oidc/callback`;
    provider = await startOidcProvider(redirectUri);
    service = await startTestService({
      env: {
        GATE_PORT: String(port),
        GATE_DASHBOARD_URL: `http://localhost:${port}`,
        GATE_OIDC_ISSUER: provider.issuer,
        GATE_OIDC_CLIENT_ID: CLIENT.client_id,
        GATE_OIDC_CLIENT_SECRET: CLIENT.client_secret,
      },
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  it('answers 503 within 5 s, although the provider answers some calls in time', async () => {
    const jar = new CookieJar();
    const started = await jar.fetch(new URL(redirectUri.replace('callback', 'start')));
    const callback = await signOnAt(
      jar,
      new URL(started.headers.get('location') ?? 'no://location'),
      'tom',
      redirectUri,
    );
    provider.waitMs = { '/token': 2000, '/jwks': 2000, '/me': 20_000 };

    const startMs = performance.now();
    const response = await jar.fetch(callback);

    expect([response.status, await codeOf(response)]).to.deep.equal([503, 'provider_unavailable']);
    expect(performance.now() - startMs).to.be.below(5000);
  });
});

describe('single sign-on with GATE_PASSWORD_LOGIN=0 and an unavailable provider', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({
      env: {
        GATE_PASSWORD_LOGIN: '0',
        GATE_OIDC_ISSUER: `http://localhost:${await freePort()}`,
        GATE_OIDC_CLIENT_ID: CLIENT.client_id,
        GATE_OIDC_CLIENT_SECRET: CLIENT.client_secret,
      },
    });
  });
  after(() => service.stop());

  it('answers 503 at the start, and 403 to register, login, forgot and reset', async () => {
    const started = await call(service, '/v1/auth/oidc/start');
    const email = newEmail();
    const passwords = [
      await register(service, email),
      await logIn(service, email),
      await requestToken(service, 'reset', email),
      await useToken(service, 'reset', 'any'),
      ...(await Promise.all(
        ['register', 'login', 'forgot-password', 'reset-password'].map((name) =>
          call(service, `/v1/auth/${name}`, { body: {} }),
        ),
      )),
    ];

    expect([started.status, await codeOf(started)]).to.deep.equal([503, 'provider_unavailable']);
    expect(passwords.map(({ status }) => status)).to.deep.equal(Array<number>(8).fill(403));
    expect(await jsonOf(call(service, '/v1/auth/options'))).to.deep.equal({
      registration: 'open',
      password: false,
      sso: true,
      mail: 'printed',
    });
  });
});
