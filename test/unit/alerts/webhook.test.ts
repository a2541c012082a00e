import { expect } from 'chai';
import { createServer } from 'node:http';
import { isPublicAddress, postWebhook, publicLookup, webhookFault } from '../../../server/alerts/webhook.ts';
import { listen } from '../../support/listen.ts';

describe('the address of a webhook', () => {
  const refused: [string, string][] = [
    ['http://hooks.example.com/x', 'must begin with https://'],
    ['http://127.0.0.1/x', 'must begin with https://'],
    ['ftp://hooks.example.com/x', 'must begin with https://'],
    ['https://user:secret@hooks.example.com/', 'must be a URL without user, password and fragment'],
    ['no address', 'must be a URL without user, password and fragment'],
    ...[
      'https://localhost/',
      'https://127.0.0.1/',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://10.1.2.3/',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://[fd00::1]/',
    ].map((url): [string, string] => [url, 'must not be an address of a private network']),
  ];
  for (const [url, fault] of refused)
    it(`is refused: ${url}`, () => {
      expect(webhookFault(url, false)).to.equal(fault);
    });

  it('is good: https to a name or a public address', () => {
    expect(webhookFault('https://hooks.example.com/x?token=1', false)).to.equal(undefined);
    expect(webhookFault('https://9.9.9.9/', false)).to.equal(undefined);
  });

  it('may be private with GATE_WEBHOOK_PRIVATE=1, and http on this machine only', () => {
    expect(webhookFault('https://10.1.2.3/', true)).to.equal(undefined);
    expect(webhookFault('http://127.0.0.1:8080/', true)).to.equal(undefined);
    expect(webhookFault('http://10.1.2.3/', true)).to.equal('must begin with https://');
  });

  it('is judged by what it resolves to', () => {
    const isPublic = ['9.9.9.9', '2606:4700::1111', '::ffff:9.9.9.9'].map(isPublicAddress);
    const isPrivate = [
      '100.64.0.1',
      '224.0.0.1',
      '64:ff9b::a00:1',
      'fe80::1',
      '::ffff:192.168.0.1',
      '0.0.0.0',
    ];

    expect(isPublic).to.deep.equal([true, true, true]);
    expect(isPrivate.filter(isPublicAddress)).to.deep.equal([]);
  });
});

describe('a webhook that is sent', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const message = { id: 'm1', body: '{}', atMs: Date.now() };
  const send = (url: string, mayBePrivate: boolean) =>
    postWebhook({ url, secret }, message, { mayBePrivate, signal: AbortSignal.timeout(5000) }).then(
      () => 'sent',
      (error: Error) => error.message,
    );

  it('does not connect to a name that resolves to a private network', async () => {
    const found = (name: string, all: boolean) =>
      new Promise((resolve) =>
        publicLookup(name, { all }, (error, addresses) => resolve(error?.message ?? addresses)),
      );

    const refusal = 'The address leads to a private network';
    expect([await found('localhost', true), await found('localhost', false)]).to.deep.equal([
      refusal,
      refusal,
    ]);
    expect(await found('9.9.9.9', true)).to.deep.equal([{ address: '9.9.9.9', family: 4 }]);
    expect(await found('9.9.9.9', false)).to.equal('9.9.9.9');
  });

  it('fails when the receiver switches protocols instead of answering', async () => {
    const server = createServer((_req, res) =>
      res.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    );
    const url = `http://127.0.0.1:${await listen(server)}`;

    const answer = await send(url, true);
    server.close();

    expect(answer).to.equal('No answer');
  });

  it('follows no redirect, and treats any status except 2xx as a failure', async () => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(String(req.url));
      res.writeHead(Number(req.url?.slice(1)), { Location: '/200' }).end();
    });
    const url = `http://127.0.0.1:${await listen(server)}`;

    const answers = await Promise.all(['/204', '/302', '/410', '/500'].map((path) => send(url + path, true)));
    server.close();

    expect(answers).to.deep.equal([
      'sent',
      'The receiver answered 302',
      'The receiver answered 410',
      'The receiver answered 500',
    ]);
    expect(asked.sort()).to.deep.equal(['/204', '/302', '/410', '/500']);
  });
});
