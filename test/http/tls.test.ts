import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { connect, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { configure, flush, resolvePolicy, shutdown } from '../../client/index.ts';
import { ConnectionTable } from '../../server/http/connections.ts';
import { followTlsFiles, readTls } from '../../server/http/tls.ts';
import { call, cookieOf, logIn } from '../support/accounts.ts';
import { captureLogger } from '../support/capture-logger.ts';
import { type Certificate, certificateFiles, makeCertificate } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { decisionEvent } from '../support/events.ts';
import { head, openRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { listen } from '../support/listen.ts';

let [first, second]: Certificate[] = [];

/** Makes fetch, and everything else in this process, trust these certificates. */
function useTrusted(): void {
  const defaults = getCACertificates();
  before('certificates', async () => {
    [first, second] = [await makeCertificate(), await makeCertificate()];
    setDefaultCACertificates([...defaults, first.cert, second.cert]);
  });
  after(() => setDefaultCACertificates(defaults));
}

/** The certificate that a new connection gets, as PEM. */
async function certificateAt(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket: TLSSocket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'secureConnect');
  const raw = socket.getPeerX509Certificate()?.toString() ?? '';
  socket.destroy();
  return raw.trim();
}

const pem = ({ cert }: Certificate = { cert: '', key: '' }) => cert.replaceAll('\r', '').trim();

describe('a service with GATE_TLS_CERT and GATE_TLS_KEY', () => {
  useTrusted();
  let service: TestService;
  let write: (certificate: Certificate) => void;
  before(async () => {
    if (!first) throw new Error('There is no certificate');
    const made = certificateFiles(first);
    ({ write } = made);
    service = await startTestService({ env: { ...made.env, GATE_DASHBOARD_URL: 'https://localhost:8000' } });
  });
  after(() => service.stop());

  it('answers health checks, sessions and the client over HTTPS, as over HTTP', async () => {
    const logger = captureLogger();
    const { demo, url } = service;
    const { email = '', password } = demo.dashboard ?? {};
    const loggedIn = await logIn(service, email, password);
    const me = await call(service, '/v1/auth/me', { cookie: cookieOf(loggedIn) });
    const foreign = await call(service, '/v1/auth/logout', {
      cookie: cookieOf(loggedIn),
      method: 'POST',
      headers: { Origin: 'https://elsewhere.example' },
    });
    const source = await resolvePolicy({ agentName: demo.agent_name, key: demo.key, baseUrl: url, logger });
    const gate = configure({ apiKey: demo.key, baseUrl: url, logger });
    gate.emit({ agent_name: demo.agent_name, tool_name: 'search', outcome: 'allow' });
    await flush();
    const { sent } = gate.stats();
    await shutdown();

    expect(url).to.match(/^https:/);
    expect([(await fetch(`${url}/healthz`)).status, (await fetch(`${url}/readyz`)).status]).to.deep.equal([
      200, 200,
    ]);
    expect(loggedIn.headers.getSetCookie()[0])
      .to.match(/HttpOnly/)
      .and.match(/Secure/);
    expect([me.status, foreign.status]).to.deep.equal([200, 403]);
    expect([source.origin, sent]).to.deep.equal(['bundle', 1]);
    expect(logger.lines).to.deep.equal([]);
  });

  it('speaks TLS 1.2 and 1.3, and neither older versions nor plaintext', async () => {
    const { hostname: host, port } = new URL(service.url);
    const protocolOf = async (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') => {
      const options = { host, port: Number(port), minVersion: version, maxVersion: version };
      // The security level of the library also forbids TLS 1.1 to this client.
      const socket = connect({ ...options, ciphers: 'DEFAULT:@SECLEVEL=0' });
      const protocol = await once(socket, 'secureConnect').then(
        () => socket.getProtocol(),
        () => 'refused',
      );
      socket.destroy();
      return protocol;
    };

    expect([
      await protocolOf('TLSv1.1'),
      await protocolOf('TLSv1.2'),
      await protocolOf('TLSv1.3'),
    ]).to.deep.equal(['refused', 'TLSv1.2', 'TLSv1.3']);
    const plain = await fetch(service.url.replace('https:', 'http:')).catch(() => 'refused');
    expect(plain).to.equal('refused');
  });

  it('adopts a changed certificate, without a restart, and keeps open connections', async () => {
    if (!second) throw new Error('There is no second certificate');
    const connection = await openRaw(service.url);
    expect(await certificateAt(service.url)).to.equal(pem(first));
    write(second);
    await eventually(async () => (await certificateAt(service.url)) === pem(second));
    await connection.write(head('/healthz', {}, 'GET'));

    expect((await connection.answer()).status).to.equal(200);
    connection.close();
  });

  it('at SIGTERM answers 503 to a request that is half sent, and exits with 0', async () => {
    const connection = await openRaw(service.url);
    const { hostname, port } = new URL(service.url);
    const handshake = connectTcp(Number(port), hostname);
    await once(handshake, 'connect');
    const body = JSON.stringify(decisionEvent());
    const headers = {
      Authorization: `Bearer ${service.key}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    await connection.write(head('/v1/audit/decisions', headers) + body.slice(0, 20));
    const answer = connection.answer();

    expect(await service.stop()).to.equal(0);
    expect((await answer).status).to.equal(503);
    handshake.destroy();
  });
});

describe('TLS files', () => {
  useTrusted();
  const lines: { level: number; msg: string; reason?: string }[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });

  let close: () => void;
  afterEach(() => close());

  async function listenWith(certificate: Certificate | undefined, max?: number) {
    if (!certificate) throw new Error('There is no certificate');
    const { files, write } = certificateFiles(certificate);
    const inUse = readTls(files);
    const server = createServer(inUse, (_req, res) => res.end('ok'));
    const table = new ConnectionTable(server, max === undefined ? {} : { max });
    const port = await listen(server);
    const unfollow = followTlsFiles(server, { files, inUse, logger, everyMs: 10 });
    close = () => {
      unfollow();
      server.close();
      server.closeAllConnections();
    };
    return { url: `https://127.0.0.1:${port}`, files, write, table };
  }

  it('that do not match keep the old pair in use, and cause one ERROR each', async () => {
    if (!first || !second) throw new Error('There are no certificates');
    const { url, files, write } = await listenWith(first);
    const faults: [() => void, RegExp][] = [
      [() => writeFileSync(files.key, second?.key ?? ''), /does not fit/],
      [() => writeFileSync(files.cert, 'nothing'), /has no PEM certificate/],
    ];
    for (const [spoil, reason] of faults) {
      lines.length = 0;
      spoil();
      await eventually(() => lines.length > 0);
      // Further checks of the same files.
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
        [50, 'The changed TLS files are not used; the old ones stay in use'],
      ]);
      expect(lines[0]?.reason).to.match(reason);
      expect(await certificateAt(url)).to.equal(pem(first));
    }
    lines.length = 0;
    write(second);
    await eventually(async () => (await certificateAt(url)) === pem(second));
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      [30, 'The changed TLS certificate is in use'],
    ]);
  });

  it('serve callers even if others begin no handshake: the oldest of those is closed', async () => {
    const { url, table } = await listenWith(first, 4);
    const { hostname, port } = new URL(url);
    const idle = Array.from({ length: 6 }, () =>
      connectTcp(Number(port), hostname).on('error', () => undefined),
    );
    await Promise.all(idle.map((socket) => once(socket, 'connect')));

    expect(await (await fetch(url)).text()).to.equal('ok');
    expect(table.connections.size).to.be.at.most(4);
    for (const socket of idle) socket.destroy();
  });
});
