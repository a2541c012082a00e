import { expect } from 'chai';
import type { Socket } from 'node:net';
import { MAIL_CONNECT_MS_MAX } from '../../server/limits.ts';
import { newPerson, requestToken } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { readMetrics } from '../support/metrics.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { API_KEY, providerEnv, startBrokenServer, startMailServer } from '../support/smtp-server.ts';
import { useCleanups } from '../support/cleanups.ts';

describe('a failing mail provider', () => {
  let behaviour: (socket: Socket) => void = () => undefined;
  let broken: { url: string; close: () => void };
  let service: TestService;
  before(async () => {
    // Each behaviour occurs once and retries succeed, so that no test sees the mails of another.
    broken = await startBrokenServer((socket) => {
      const now = behaviour;
      behaviour = takesIt;
      now(socket);
    });
    service = await startTestService({ env: providerEnv(broken.url) });
  });
  after(async () => {
    broken.close();
    await service.stop();
  });

  /** Behaves correctly up to a point, then does what the test says. */
  const upTo = (command: string, then: (socket: Socket) => void) => (socket: Socket) => {
    socket.write('220 mail.example.com ESMTP\r\n');
    socket.on('data', (chunk: Buffer) => {
      const said = chunk.toString().toUpperCase();
      if (said.startsWith(command)) then(socket);
      else if (said.startsWith('EHLO')) socket.write('250-mail.example.com\r\n250 AUTH PLAIN\r\n');
      else if (said.startsWith('AUTH')) socket.write('235 welcome\r\n');
      else if (said.startsWith('DATA')) socket.write('354 go on\r\n');
      else socket.write('250 ok\r\n');
    });
  };
  let taken = '';
  const takesIt = upTo('DATA', (socket) => {
    socket.write('354 go on\r\n');
    socket.on('data', (chunk: Buffer) => {
      taken += chunk.toString();
      if (chunk.toString().endsWith('\r\n.\r\n')) socket.end('250 taken\r\n');
    });
  });
  const refuse = (text: string) => (socket: Socket) => void socket.end(`${text}\r\n`);

  const sentCount = async () =>
    (await readMetrics(service)).value('gate_mail_total{kind="reset",result="sent"}');

  const faults: [string, (socket: Socket) => void, string][] = [
    ['closes at once', (socket) => socket.destroy(), 'retried'],
    ['closes after MAIL FROM', upTo('MAIL', (socket) => socket.destroy()), 'retried'],
    ['closes in the middle of the message', upTo('DATA', (socket) => socket.end('354 go on\r\n')), 'retried'],
    ['refuses the API key', upTo('AUTH', refuse('535 Authentication failed')), 'failed'],
    ['is busy', upTo('MAIL', refuse('451 try again later')), 'retried'],
    ['does not want the from-address', upTo('MAIL', refuse('550 sender domain not verified')), 'failed'],
    ['does not want the message', upTo('DATA', refuse('554 no')), 'failed'],
    ['hangs', () => undefined, 'retried'],
    ['hangs after MAIL FROM', upTo('MAIL', () => undefined), 'retried'],
  ];
  for (const [what, behave, result] of faults) {
    it(`${what}: the request returns 202 at once, the failure is logged and counted`, async () => {
      behaviour = behave;
      const { email } = await newPerson(service);
      const series = `gate_mail_total{kind="reset",result="${result}"}`;
      const before = (await readMetrics(service)).value(series);
      const sentBefore = await sentCount();
      const said = service.output().length;

      const startMs = performance.now();
      const response = await requestToken(service, 'reset', email);
      const tookMs = performance.now() - startMs;

      // It did not wait for a provider that hangs.
      expect([response.status, tookMs < MAIL_CONNECT_MS_MAX / 2]).to.deep.equal([202, true]);
      await eventually(async () => (await readMetrics(service)).value(series) > before);
      const line = new RegExp(`"level":50,.*"kind":"reset","result":"${result}".*"A mail was not sent"`);
      expect(service.output().slice(said)).to.match(line);
      if (result === 'retried') {
        await eventually(async () => (await sentCount()) > sentBefore);
        expect(taken).to.contain(`To: ${email}`);
      }
      expect(service.output())
        .not.to.contain(API_KEY)
        .and.not.to.contain(Buffer.from(`\0sender\0${API_KEY}`).toString('base64'))
        .and.not.to.contain('/reset-password/');
    });
  }

  it('is not used with an invalid GATE_EMAIL_FROM: the failure is logged and counted', async () => {
    const mailServer = await startMailServer();
    const env = providerEnv(mailServer.url, { GATE_EMAIL_FROM: 'no address' });
    const nobody = await startTestService({ env });
    const { email } = await newPerson(nobody);

    expect((await requestToken(nobody, 'reset', email)).status).to.equal(202);
    await eventually(
      async () => (await readMetrics(nobody)).value('gate_mail_total{kind="reset",result="failed"}') === 1,
    );

    expect(mailServer.mails).to.deep.equal([]);
    expect(nobody.output())
      .to.match(/"level":50,.*GATE_EMAIL_FROM must be an address/)
      .and.to.match(/"level":50,.*"A mail was not sent"/);
    await nobody.stop();
    await mailServer.close();
  });

  it('does not delay a stop, which logs the dropped mail', async () => {
    behaviour = () => undefined;
    const { email } = await newPerson(service);
    await requestToken(service, 'reset', email);
    const said = service.output().length;

    const startMs = performance.now();

    expect(await service.stop()).to.equal(0);
    expect(performance.now() - startMs).to.be.below(5000);
    const line =
      /"level":50,.*"kind":"reset","result":"dropped","reason":"the service is stopping.*"A mail was not sent"/;
    expect(service.output().slice(said)).to.match(line);
  });

  const { cleanups, closing } = useCleanups();

  /** A separate service that sends through this provider and was asked for a mail. */
  async function asked(url: string): Promise<TestService> {
    const own = await startTestService({ env: providerEnv(url) });
    cleanups.push(() => own.stop());
    await requestToken(own, 'verify', (await newPerson(own)).email);
    return own;
  }

  it('refuses connections: three attempts are made', async () => {
    const gone = await startBrokenServer(() => undefined);
    gone.close();
    const service = await asked(gone.url);

    const counted = async (result: string) =>
      (await readMetrics(service)).value(`gate_mail_total{kind="verify",result="${result}"}`);
    await eventually(async () => (await counted('failed')) === 1);
    expect(await counted('retried')).to.equal(2);
  });

  it('has an untrusted certificate: nothing is sent', async () => {
    const mailServer = closing(await startMailServer({ secure: true }));
    const service = await asked(mailServer.url);
    await eventually(() => service.output().includes('"A mail was not sent"'));

    expect([mailServer.mails, mailServer.logins]).to.deep.equal([[], []]);
  });
});
