import { expect } from 'chai';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_STORE, runGate, runService } from '../support/processes.ts';
import { storeDirectory, temporaryDirectory } from '../support/service.ts';

const FAULTS = {
  GATE_PORT: '70000',
  GATE_DEMO: 'maybe',
  GATE_CLICKHOUSE_URL: 'ftp://gate:secret-password@host/db',
  GATE_SIGNING_KEY: 'c2VjcmV0LXNlZWQtdG9vLXNob3J0',
  GATE_SIGNING_KEYS_RETIRED: 'secret-not-base64!',
  GATE_READ_AUTH: 'sometimes',
  GATE_DASHBOARD_URL: 'not a url',
  GATE_HOST: 'no host',
  MAILER_SMTP_URL: 'http://user:secret-smtp@host',
  GATE_LOG_LEVEL: 'loud',
  GATE_BATCH_ROWS_MAX: '0',
  GATE_QUEUE_ROWS_MAX: '1e3',
  GATE_BATCH_INTERVAL_MS: '1 s',
  GATE_BATCH_ROWS_MIN: '-1',
  GATE_ASYNC_INSERT_MS: 'on',
  GATE_WORKERS: 'two',
};
const SECRETS = [
  'secret-password',
  FAULTS.GATE_SIGNING_KEY,
  'secret-not-base64',
  'secret-smtp',
  'mailer-secret',
];

describe('a configuration with faults', () => {
  it('stops the start with exit code 1 and one message that lists every fault and no secret', async () => {
    const dataDir = temporaryDirectory();

    const { code, stdout, stderr } = await runService({
      dataDir,
      env: { ...FAULTS, MAILER_API_KEY: 'mailer-secret' },
    });

    expect(code).to.equal(1);
    const unnamed = Object.keys(FAULTS).filter((name) => !new RegExp(`\\b${name}\\b`).test(stderr));
    expect(unnamed).to.deep.equal([]);
    expect(stderr).to.contain(FAULTS.GATE_LOG_LEVEL);
    expect(SECRETS.filter((secret) => (stdout + stderr).includes(secret))).to.deep.equal([]);
    expect(stderr).to.not.match(/^\s+at /m);
    expect(stdout).to.equal('');
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });

  for (const [name, value] of [
    ['GATE_HOST', '203.0.113.5'],
    ['GATE_DATA_DIR', '/proc/nope'],
  ] as const) {
    it(`reports ${name}=${value} in one line`, async () => {
      const { code, stderr } = await runService({
        dataDir: temporaryDirectory(),
        env: { ...NO_STORE, [name]: value },
      });

      expect(code).to.equal(1);
      // As root it is the system that says so, else the check of the configuration.
      expect(stderr.trim().split('\n').length).to.be.at.most(2);
      expect(stderr).to.contain(value).and.not.contain('\n    at ');
    });
  }

  for (const name of ['demo.json', 'signing-key.pem', 'log-key.pem'])
    it(`reports in one line that ${name} is a directory`, async () => {
      const dataDir = await storeDirectory();
      const path = join(dataDir, name);
      rmSync(path);
      mkdirSync(path);

      const { code, stderr } = await runService({ dataDir, env: {} });

      expect(code).to.equal(1);
      expect(stderr).to.match(
        new RegExp(`^The configuration is not valid:\\n  - .*${path} cannot be read \\(EISDIR\\)\\n$`),
      );
    });

  it('stops the command line in one line for a bad data directory', async () => {
    const dataDir = '/proc/nope';
    const backup = join(temporaryDirectory(), 'backup');
    mkdirSync(join(backup, 'store'), { recursive: true });
    writeFileSync(join(backup, 'store', '.backup'), '<config></config>');

    const { code, stdout, stderr } = await runGate({ dataDir, args: ['restore', '--from', backup] });

    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr.trim().split('\n').length, stderr).to.be.at.most(2);
    expect(stderr).to.contain(dataDir).and.not.contain('\n    at ');
  });

  it('reports a store that the engine cannot open, and does not take it for one in use', async () => {
    const dataDir = await storeDirectory();
    const status = join(dataDir, 'clickhouse', 'status');
    rmSync(status, { force: true });
    mkdirSync(status);

    const [started, listed] = [
      await runService({ dataDir, env: {} }),
      await runGate({ dataDir, args: ['project', 'list'] }),
    ];

    for (const { code, stderr } of [started, listed]) {
      expect(code).to.equal(1);
      expect(stderr)
        .to.contain(`The store in ${dataDir} cannot be opened`)
        .and.contain('If its disk is full')
        .and.contain('chown -R')
        .and.not.match(/^\s+at /m);
      expect(stderr).not.to.contain('is in use');
    }
  });

  it('stops the command line in the same way', async () => {
    const { code, stdout, stderr } = await runGate({
      dataDir: temporaryDirectory(),
      args: ['project', 'list'],
      env: FAULTS,
    });

    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^The configuration is not valid:\n {2}- GATE_/);
    expect(Object.keys(FAULTS).filter((name) => !stderr.includes(name))).to.deep.equal([]);
    expect(SECRETS.filter((secret) => stderr.includes(secret))).to.deep.equal([]);
  });
});
