import { expect } from 'chai';
import { ConfigError, configWarnings, readConfig } from '../../../server/config.ts';
import { certificateFiles, makeCertificate } from '../../support/certificates.ts';

const SEED = Buffer.alloc(32, 7).toString('base64');

/** The message of the error that lists the faults. */
function faultsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message;
  }
  return '';
}

describe('readConfig', () => {
  it('has defaults', () => {
    expect(readConfig({})).to.deep.include({
      host: '127.0.0.1',
      port: 8000,
      tls: undefined,
      dataDir: '.data',
      demo: '0',
      clickhouse: undefined,
      cluster: undefined,
      signingKey: undefined,
      retiredSigningKeys: [],
      logKey: undefined,
      witnesses: [],
      bundleDaysMax: undefined,
      readAuth: 'open',
      metricsToken: undefined,
      serviceName: 'Gatehouse',
      dashboardUrl: 'http://localhost:8000',
      emailFrom: undefined,
      mailerApiKey: undefined,
      mailerSmtpUrl: 'smtps://resend@smtp.resend.com:465',
      webhookPrivate: false,
      logLevel: 'info',
      batchRowsMax: 5000,
      batchIntervalMs: 0,
      batchRowsMin: 4000,
      asyncInsertMs: 0,
      queueRowsMax: 50_000,
      workers: 1,
    });
  });

  it('reads witnesses with either type of their key, which verifies cosignatures', () => {
    const ordinary = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
    const witness = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';
    const { witnesses } = readConfig({
      GATE_WITNESSES: `https://w1.example/a ${ordinary}, http://127.0.0.1:1 ${witness}`,
    });

    expect(witnesses.map(({ url, key }) => [url.href, key.name, key.type])).to.deep.equal([
      ['https://w1.example/a', 'example.com/foo', 'cosignature'],
      ['http://127.0.0.1:1/', 'remora.n621.de', 'cosignature'],
    ]);
    for (const bad of [witness, `ftp://x ${witness}`, `https://x ${witness}x`, `https://x ${witness} y`])
      expect(faultsOf({ GATE_WITNESSES: bad }), bad).to.include('GATE_WITNESSES must list');
    expect(faultsOf({ GATE_WITNESSES: `https://a ${witness}, https://b ${witness}` })).to.include(
      'GATE_WITNESSES lists the witness remora.n621.de twice',
    );
  });

  it('needs no data directory only with both keys and a server', () => {
    const env = { GATE_CLICKHOUSE_URL: 'http://h', GATE_DATA_DIR: '/dev/null/x', GATE_SIGNING_KEY: SEED };

    expect(faultsOf(env)).to.include('GATE_DATA_DIR');
    expect(faultsOf({ ...env, GATE_LOG_KEY: SEED })).to.equal('');
    expect(faultsOf({ GATE_LOG_KEY: 'hidden-text' }))
      .to.include('GATE_LOG_KEY')
      .and.not.include('hidden');
  });

  it('treats an empty variable as unset', () => {
    const names = [
      'GATE_HOST',
      'GATE_PORT',
      'GATE_DATA_DIR',
      'GATE_CLICKHOUSE_URL',
      'GATE_SIGNING_KEY',
      'GATE_READ_AUTH',
      'GATE_WORKERS',
    ];

    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).to.deep.equal(readConfig({}));
  });

  it('reads every variable', () => {
    const config = readConfig({
      GATE_HOST: '::',
      GATE_PORT: '65535',
      GATE_DATA_DIR: 'elsewhere',
      GATE_DEMO: '1',
      GATE_CLICKHOUSE_URL: 'http://us%40er:pa%3Ass@db.example:8123/gate_1',
      GATE_CLICKHOUSE_CLUSTER: 'main',
      GATE_SIGNING_KEY: SEED,
      GATE_SIGNING_KEYS_RETIRED: `${SEED}, ${SEED}`,
      GATE_READ_AUTH: 'required',
      GATE_BUNDLE_DAYS_MAX: '30',
      GATE_METRICS_TOKEN: 'scrape-me~1',
      GATE_REGISTRATION: 'closed',
      GATE_PASSWORD_LOGIN: '0',
      GATE_OIDC_ISSUER: 'https://login.example/realm',
      GATE_OIDC_CLIENT_ID: 'gatehouse',
      GATE_OIDC_CLIENT_SECRET: 'secret',
      GATE_OIDC_GROUPS: '{"leads":[{"project_id":"p","role":"admin"}]}',
      GATE_OIDC_GROUPS_CLAIM: 'roles',
      GATE_SERVICE_NAME: 'Acme',
      GATE_DASHBOARD_URL: 'https://dash.example/base/',
      GATE_EMAIL_FROM: 'gate@example.com',
      MAILER_API_KEY: 'k',
      MAILER_SMTP_URL: 'smtp://u@mail.example:2525',
      GATE_LOG_LEVEL: 'silent',
      GATE_BATCH_ROWS_MAX: '1',
      GATE_BATCH_INTERVAL_MS: '250',
      GATE_BATCH_ROWS_MIN: '3',
      GATE_ASYNC_INSERT_MS: '300',
      GATE_QUEUE_ROWS_MAX: '2',
      GATE_WORKERS: '4',
    });

    expect(config).to.deep.include({
      host: '::',
      port: 65_535,
      dataDir: 'elsewhere',
      demo: '1',
      clickhouse: { url: 'http://db.example:8123', username: 'us@er', password: 'pa:ss', database: 'gate_1' },
      cluster: 'main',
      signingKey: SEED,
      retiredSigningKeys: [SEED, SEED],
      readAuth: 'required',
      bundleDaysMax: 30,
      metricsToken: 'scrape-me~1',
      registration: 'closed',
      passwordLogin: false,
      oidc: {
        issuer: new URL('https://login.example/realm'),
        clientId: 'gatehouse',
        clientSecret: 'secret',
        groups: { leads: [{ project_id: 'p', role: 'admin' }] },
        groupsClaim: 'roles',
      },
      serviceName: 'Acme',
      dashboardUrl: 'https://dash.example/base',
      emailFrom: 'gate@example.com',
      mailerApiKey: 'k',
      mailerSmtpUrl: 'smtp://u@mail.example:2525',
      logLevel: 'silent',
      batchRowsMax: 1,
      batchIntervalMs: 250,
      batchRowsMin: 3,
      asyncInsertMs: 300,
      queueRowsMax: 2,
      workers: 4,
    });
  });

  const bad: [string, string[]][] = [
    ['GATE_PORT', ['-1', '65536', '80.0', '0x50', '1e3', ' 80', 'http', '٣']],
    ['GATE_REGISTRATION', ['OPEN', 'invite', '0']],
    ['GATE_PASSWORD_LOGIN', ['yes', '2', 'false']],
    ['GATE_OIDC_ISSUER', ['login.example', 'http://login.example', 'ftp://login.example']],
    ['GATE_OIDC_CLIENT_ID', ['alone']],
    [
      'GATE_OIDC_GROUPS',
      [
        'leads',
        '[]',
        '{"g":{}}',
        '{"g":[{"project_id":"p","role":"boss"}]}',
        '{"g":[{"role":"admin"}]}',
        '{}',
      ],
    ],
    ['GATE_OIDC_GROUPS_CLAIM', ['roles']],
    ['GATE_DEMO', ['2', 'true', 'yes', '01', 'Project']],
    [
      'GATE_CLICKHOUSE_URL',
      [
        'db:8123',
        'ftp://h/db',
        'http://',
        'http://h/a/b',
        'http://h/a;drop',
        'http://u:%zz@h/db',
        'http://h/%ff',
      ],
    ],
    ['GATE_CLICKHOUSE_CLUSTER', ['main']],
    [
      'GATE_SIGNING_KEY',
      ['short', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), 'no/such/file.pem'],
    ],
    ['GATE_SIGNING_KEYS_RETIRED', ['short', `${SEED},x`, Buffer.alloc(33).toString('base64')]],
    ['GATE_TLS_CERT', ['/etc/passwd']],
    ['GATE_BUNDLE_DAYS_MAX', ['0', '1.5', 'never']],
    ['GATE_METRICS_TOKEN', ['two words', 'é', '=']],
    ['GATE_READ_AUTH', ['OPEN', 'closed', '1']],
    [
      'GATE_DASHBOARD_URL',
      [
        'localhost:8000',
        'ftp://h',
        'javascript:alert(1)',
        'http://h/base?q=1',
        'http://h/#f',
        'https://user:pw@h',
      ],
    ],
    ['GATE_HOST', ['a b', 'http://h', 'h:80', 'a..b', '[::1]']],
    ['GATE_DATA_DIR', ['/etc/passwd', '/etc/passwd/x', '/dev/null']],
    ['MAILER_SMTP_URL', ['mail.example', 'http://h', 'smtp://a%zz@h:25']],
    ['GATE_LOG_LEVEL', ['verbose', 'INFO']],
    ['GATE_BATCH_ROWS_MAX', ['0', '-5', 'many']],
    ['GATE_QUEUE_ROWS_MAX', ['0', '1.5']],
    ['GATE_BATCH_INTERVAL_MS', ['-1', '1001', '100']],
    ['GATE_BATCH_ROWS_MIN', ['0', 'all', '100']],
    ['GATE_ASYNC_INSERT_MS', ['yes', '1001', '100']],
    ['GATE_WORKERS', ['0', '2', 'all']],
  ];
  for (const [name, values] of bad) {
    it(`reports an invalid ${name}, and no other variable`, () => {
      for (const value of values) {
        const message = faultsOf({ [name]: value });
        expect(message, value).to.contain(name);
        expect(new Set(message.match(/^ {2}- \w+/gm)), value).to.deep.equal(new Set([`  - ${name}`]));
      }
    });
  }

  it('uses the defaults of server-only settings on the embedded store as well', () => {
    const defaults = { GATE_BATCH_INTERVAL_MS: '0', GATE_BATCH_ROWS_MIN: '4000', GATE_ASYNC_INSERT_MS: '0' };

    expect(readConfig(defaults)).to.deep.equal(readConfig({}));
  });

  it('lets the server of a cluster merge inserts by default', () => {
    const GATE_CLICKHOUSE_URL = 'http://h/db';
    const cluster = { GATE_CLICKHOUSE_URL, GATE_CLICKHOUSE_CLUSTER: 'fleet' };
    const of = (env: Record<string, string>) => {
      const { asyncInsertMs, batchRowsMax } = readConfig(env);
      return { asyncInsertMs, batchRowsMax };
    };

    expect(of(cluster)).to.deep.equal({ asyncInsertMs: 125, batchRowsMax: 20_000 });
    expect(of({ ...cluster, GATE_ASYNC_INSERT_MS: '0' })).to.deep.equal({
      asyncInsertMs: 0,
      batchRowsMax: 5000,
    });
    expect(of({ GATE_CLICKHOUSE_URL })).to.deep.equal({ asyncInsertMs: 0, batchRowsMax: 5000 });
  });

  for (const [warning, env] of [
    ['The audit read endpoints are open', {}],
    ['GET /metrics is open', { GATE_READ_AUTH: 'required' }],
    ['Mailed links point to http://localhost:8000, but the port is 9000', { GATE_PORT: '9000' }],
    ['Nobody can sign in', { GATE_PASSWORD_LOGIN: '0' }],
  ] as [string, Record<string, string>][])
    it(`warns about likely mistakes: ${warning}`, () => {
      const meant = {
        GATE_READ_AUTH: 'required',
        GATE_METRICS_TOKEN: 'scrape-me',
        GATE_DASHBOARD_URL: 'https://dash.example',
        GATE_OIDC_ISSUER: 'https://login.example',
        GATE_OIDC_CLIENT_ID: 'gatehouse',
        GATE_OIDC_CLIENT_SECRET: 'secret',
      };
      const warningsOf = (given: Record<string, string>) => [...configWarnings(readConfig(given))].join('\n');

      expect(warningsOf(env)).to.contain(warning);
      expect(warningsOf({ ...env, ...meant })).to.equal('');
    });

  it('lists every fault in one message', () => {
    const message = faultsOf(Object.fromEntries(bad.map(([name, [value = '']]) => [name, value])));

    expect(bad.filter(([name]) => !message.includes(name))).to.deep.equal([]);
  });

  it('reports TLS files that cannot be read, hold no certificate or key, or do not fit, in one line', async () => {
    const [one, two] = [certificateFiles(await makeCertificate()), certificateFiles(await makeCertificate())];
    const { cert, key } = one.files;
    const reasonOf = (env: Record<string, string>) => faultsOf(env).split('\n').slice(1);

    expect(readConfig(one.env).tls).to.deep.equal(one.files);
    expect(reasonOf({ GATE_TLS_CERT: cert, GATE_TLS_KEY: two.files.key })).to.deep.equal([
      `  - GATE_TLS_KEY: the key in ${two.files.key} does not fit the first certificate in ${cert}`,
    ]);
    expect(reasonOf({ GATE_TLS_CERT: key, GATE_TLS_KEY: key })).to.deep.equal([
      `  - GATE_TLS_CERT: ${key} has no PEM certificate`,
    ]);
    expect(reasonOf({ GATE_TLS_CERT: cert, GATE_TLS_KEY: cert })).to.deep.equal([
      `  - GATE_TLS_KEY: ${cert} has no PEM private key, or it has a passphrase`,
    ]);
    expect(reasonOf({ GATE_TLS_CERT: '/nowhere', GATE_TLS_KEY: key })).to.deep.equal([
      '  - GATE_TLS_CERT: /nowhere cannot be read (ENOENT)',
    ]);
    expect(reasonOf({ GATE_TLS_CERT: '/nowhere', GATE_TLS_KEY: '/there' })).to.deep.equal([
      '  - GATE_TLS_CERT: /nowhere cannot be read (ENOENT); GATE_TLS_KEY: /there cannot be read (ENOENT)',
    ]);
  });

  it('names the missing host of an address', () => {
    expect(faultsOf({ MAILER_SMTP_URL: 'smtp://' })).to.contain(
      'MAILER_SMTP_URL must name a host, as in smtp://host',
    );
  });

  it('never repeats a value that may be a secret', () => {
    const message = faultsOf({
      GATE_CLICKHOUSE_URL: 'ftp://user:hidden-1@host/db',
      GATE_SIGNING_KEY: 'hidden-2',
      GATE_SIGNING_KEYS_RETIRED: 'hidden-3',
      MAILER_SMTP_URL: 'http://user:hidden-4@host',
      GATE_DASHBOARD_URL: 'ftp://user:hidden-5@host',
      MAILER_API_KEY: 'hidden-6',
    });

    expect(message).to.contain('GATE_CLICKHOUSE_URL').and.not.contain('hidden');
  });
});
