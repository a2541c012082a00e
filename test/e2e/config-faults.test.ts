import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { runCommand, runService } from '../support/processes.ts';
import { temporaryDirectory } from '../support/service.ts';

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
  GATE_WORKERS: 'two',
};
const SECRETS = [
  'secret-password',
  FAULTS.GATE_SIGNING_KEY,
  'secret-not-base64',
  'secret-smtp',
  'mailer-secret',
];

describe('a configuration with faults', function () {
  this.timeout(60_000);

  it('stops the start with exit code 1 and one message that lists every fault and no secret', async () => {
    const dataDir = temporaryDirectory();

    const { code, stdout, stderr } = await runService({
      dataDir,
      env: { ...FAULTS, MAILER_API_KEY: 'mailer-secret' },
    });

    expect(code).to.equal(1);
    const unnamed = Object.keys(FAULTS).filter((name) => !new RegExp(`\\b${name}\\b`).test(stderr));
    expect(unnamed).to.deep.equal([]);
    expect(SECRETS.filter((secret) => (stdout + stderr).includes(secret))).to.deep.equal([]);
    expect(stderr).to.not.match(/^\s+at /m);
    expect(stdout).to.equal('');
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });

  it('with one fault names only that one', async () => {
    const { code, stderr } = await runService({
      dataDir: temporaryDirectory(),
      env: { GATE_LOG_LEVEL: 'loud' },
    });

    expect(code).to.equal(1);
    expect(stderr.match(/(GATE|MAILER)_\w+/g)).to.deep.equal(['GATE_LOG_LEVEL']);
    expect(stderr).to.contain('loud');
  });

  it('with GATE_WORKERS over 1 and the embedded store is one of them', async () => {
    const { code, stderr } = await runService({ dataDir: temporaryDirectory(), env: { GATE_WORKERS: '2' } });

    expect([code, stderr.includes('GATE_WORKERS')]).to.deep.equal([1, true]);
  });

  for (const [name, value] of [
    ['GATE_HOST', '203.0.113.5'],
    ['GATE_HOST', 'no-such-host.invalid'],
    ['GATE_DATA_DIR', '/proc/nope'],
  ] as const) {
    it(`that only the system knows, as ${name}=${value}, is one line`, async () => {
      const dataDir = name === 'GATE_DATA_DIR' ? value : temporaryDirectory();
      const { code, stderr } = await runService({
        dataDir,
        env: { [name]: value, GATE_LOG_LEVEL: 'silent' },
      });

      expect(code).to.equal(1);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(stderr).to.contain(value);
    });
  }

  it('stops the command line in the same way', async () => {
    const { code, stdout, stderr } = await runCommand({
      dataDir: temporaryDirectory(),
      args: ['project', 'list'],
      env: FAULTS,
    });

    expect([code, stdout]).to.deep.equal([1, '']);
    expect(Object.keys(FAULTS).filter((name) => !stderr.includes(name))).to.deep.equal([]);
    expect(SECRETS.filter((secret) => stderr.includes(secret))).to.deep.equal([]);
  });
});
