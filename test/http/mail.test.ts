import { expect } from 'chai';
import { newPerson, requestToken, type TokenKind, useToken } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { readMetrics } from '../support/metrics.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { API_KEY, MAIL_FROM, type MailServer, providerEnv, startMailServer } from '../support/smtp-server.ts';

describe('mails sent through the provider', () => {
  let mailServer: MailServer;
  let service: TestService;
  before(async () => {
    mailServer = await startMailServer();
    const env = {
      GATE_SERVICE_NAME: 'Ætna <Gate> & Co',
      GATE_DASHBOARD_URL: 'https://gate.example.com/app/',
    };
    service = await startTestService({ env: providerEnv(mailServer.url, env) });
  });
  after(async () => {
    await service.stop();
    await mailServer.close();
  });

  const expected: [TokenKind, string, string][] = [
    ['verify', 'Verify your Ætna <Gate> & Co account', 'https://gate.example.com/app/verify-email/'],
    ['reset', 'Reset your Ætna <Gate> & Co password', 'https://gate.example.com/app/reset-password/'],
  ];
  for (const [kind, subject, link] of expected) {
    it(`have subject, from, to and the link, as text and as HTML: ${kind}`, async () => {
      const { email } = await newPerson(service);
      await requestToken(service, kind, email);

      const mail = await eventually(() => mailServer.mails.find(({ to }) => to === email));

      const token = new RegExp(`^${link}([\\w-]{43})$`, 'm').exec(mail.text)?.[1] ?? '';
      expect(mail).to.deep.include({
        envelope: { from: 'no-reply@gate.example.com', to: [email] },
        user: 'sender',
        subject,
        from: 'no-reply@gate.example.com',
        to: email,
      });
      expect(mail.html).to.contain(`<a href="${link}${token}">`).and.to.contain('Ætna &lt;Gate&gt; &amp; Co');
      expect((await useToken(service, kind, token)).status).to.equal(200);
    });
  }

  it('are counted and not printed', async () => {
    const series = 'gate_mail_total{kind="verify",result="sent"}';
    const before = (await readMetrics(service)).value(series);
    const { email } = await newPerson(service);
    await requestToken(service, 'verify', email);

    await eventually(async () => (await readMetrics(service)).value(series) === before + 1);

    expect(service.output()).not.to.match(/verify-email\/[\w-]{43}/);
    expect(service.output()).not.to.contain(API_KEY);
  });

  it('are all sent over a few connections when many are requested at once', async () => {
    const { email } = await newPerson(service);
    const loginsBefore = mailServer.logins.length;

    await Promise.all(Array.from({ length: 20 }, () => requestToken(service, 'verify', email)));

    await eventually(() => mailServer.mails.filter(({ to }) => to === email).length === 20);
    expect(mailServer.logins.length - loginsBefore).to.be.at.most(4);
  });
});

describe('the mail sender', () => {
  const link =
    /\nTo: (\S+)\nSubject: Verify your Gatehouse account\n[^]*\nhttp:\/\/localhost:8000\/verify-email\/[\w-]{43}\n/;

  const partial: [string, Record<string, string>][] = [
    ['nothing is set', {}],
    ['only MAILER_API_KEY is set', { MAILER_API_KEY: API_KEY }],
    ['only GATE_EMAIL_FROM is set', { GATE_EMAIL_FROM: MAIL_FROM }],
    ['MAILER_API_KEY is empty', { MAILER_API_KEY: '', GATE_EMAIL_FROM: MAIL_FROM }],
  ];
  for (const [what, env] of partial) {
    it(`prints the whole message to stderr when ${what}`, async () => {
      const mailServer = await startMailServer();
      const service = await startTestService({ env: { ...env, MAILER_SMTP_URL: mailServer.url } });
      const { email } = await newPerson(service);

      await requestToken(service, 'verify', email);
      const to = await eventually(() => link.exec(service.output())?.[1]);

      expect(to).to.equal(email);
      expect(mailServer.mails).to.deep.equal([]);
      await service.stop();
      await mailServer.close();
    });
  }
});
