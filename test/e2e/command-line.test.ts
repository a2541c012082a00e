import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CommandError, UsageError } from '../../server/cli/command-error.ts';
import { findCommand } from '../../server/cli/commands.ts';
import { ConfigError } from '../../server/config.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { startClickHouse } from '../support/clickhouse-server/start.ts';
import { listen } from '../support/listen.ts';
import { createProject, gate, gateFault, issueKey } from '../support/gate.ts';
import { runGate } from '../support/processes.ts';
import { environmentOf, scriptOf, storeDirectory, temporaryDirectory } from '../support/service.ts';

type ListedKey = {
  key_id: string;
  name: string;
  scope: string;
  agents: string[];
  revoked_at: string | null;
};

type Rotated = { kid: string; previous_kid: string; next_step: string };

describe('the command line', () => {
  const dataDir = temporaryDirectory();

  it('has no command with the name of what every object has', () => {
    expect(['toString', '__proto__', 'hasOwnProperty'].map(findCommand)).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('rejects an unknown command, and neither reads nor prints the configuration', async () => {
    const env = { MAILER_API_KEY: 'mail-key-7', GATE_PORT: 'none' };

    const { code, stdout, stderr } = await runGate({ dataDir, args: ['constructor'], env });

    expect([code, stdout, stderr.split('\n')[0]]).to.deep.equal([
      1,
      '',
      'There is no command "constructor".',
    ]);
    expect(stderr).not.to.contain('mail-key-7');
  });

  for (const [name, ...more] of [['verify'], ['mirror', '--to', temporaryDirectory()]] as const)
    it(`audit ${name} needs no configuration`, async () => {
      const args = ['audit', name, '--project', 'p', '--url', 'http://127.0.0.1:1', ...more];

      const { message } = await gateFault({ GATE_PORT: 'none' }, ...args);

      expect(message).to.contain('127.0.0.1:1').and.not.to.contain('configuration');
    });

  for (const [args, fault] of [
    ['project list --nmae x', "Unknown option '--nmae'"],
    ['key revoke --project p --key one --key two', '--key is given twice.'],
  ] as const)
    it(`reports a fault of "${args}" with the usage of this command only`, async () => {
      const [noun, verb] = args.split(' ');
      const { code, stdout, stderr } = await runGate({ dataDir, args: args.split(' ') });

      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr.startsWith(fault), stderr).to.equal(true);
      expect(stderr.match(/^ {2}\w.*/gm)).to.have.length(1);
      expect(stderr).to.contain(`\n  ${noun} ${verb}`).and.not.contain('\n    at ');
    });

  it('reports an option that is missing, or belongs to another command', async () => {
    const store = await storeDirectory();

    const missing = await gateFault(store, 'key', 'revoke', '--key', 'one');
    const unknown = await gateFault(store, 'project', 'list', '--key', 'x');

    expect(missing).to.be.instanceOf(UsageError).with.property('message', '--project is missing.');
    expect(unknown.message).to.match(/^Unknown option '--key'/);
  });

  it('takes a key ID that begins with a dash', async () => {
    const { code, stderr } = await runGate({
      dataDir,
      args: ['key', 'forget', '--key', `-${'x'.repeat(42)}`],
    });

    expect(code).to.equal(1);
    expect(stderr).to.match(/^There is no store in /);
  });

  it('takes the option --agent several times, and prints the usage of one command', async () => {
    const { code, stdout } = await runGate({
      dataDir,
      args: 'key issue --agent a --agent b --help'.split(' '),
    });

    expect([code, stdout.match(/^ {2}\w.*/gm)?.length]).to.deep.equal([0, 1]);
    expect(stdout).to.contain('key issue --project ID');
  });

  for (const [line, code, where] of [
    ['project --help', 0, 'stdout'],
    ['project', 1, 'stderr'],
  ] as const)
    it(`"${line}" prints the commands for projects`, async () => {
      const ended = await runGate({ dataDir, args: line.split(' ') });

      expect(ended.code).to.equal(code);
      expect(ended[where].match(/^ {2}\w.*/gm)).to.deep.equal([
        '  project create --name NAME',
        '  project list',
      ]);
    });

  it('prints the stack of an unexpected error', async () => {
    const broken = 'process.stdout.write=()=>{throw%20new%20TypeError(`planted`)}';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${broken}` };

    const { code, stderr } = await runGate({ dataDir, args: ['help'], env });

    expect(code).to.equal(1);
    expect(stderr).to.match(/^TypeError: planted\n    at [^]*\n    at .*run/);
  });

  it('shows no control character of a service, which a terminal would obey', async () => {
    const server = createServer((_, response) => response.end('\u001b[2J\u009b31m\nVerdict: holds.'));
    const url = `http://127.0.0.1:${await listen(server)}`;

    const { code, stderr } = await runGate({
      dataDir,
      args: ['audit', 'mirror', '--project', 'p', '--url', url, '--to', temporaryDirectory()],
    });

    server.close();
    expect([code, stderr]).to.deep.equal([
      1,
      '"\\u001b[2J\\u009b31m\\nVerdict: holds." is not a verifier key: A verifier key has the form <name>+<8 hex digits>+<base64>\n',
    ]);
  });

  it('creates nothing if there is no store, except for "project create"', async () => {
    const to = join(temporaryDirectory(), 'to');
    const commands = ['project list', 'key issue --project p', `export --to ${to}`, `backup --to ${to}`];

    for (const words of commands)
      expect((await gateFault(dataDir, ...words.split(' '))).message, words).to.equal(
        `There is no store in ${dataDir}. Set GATE_DATA_DIR to the data directory of the service.`,
      );

    expect([readdirSync(dataDir), existsSync(to)]).to.deep.equal([[], false]);
    await createProject(dataDir, 'first');
  });

  it('creates no root key for a store that has one elsewhere, and needs none to list and revoke keys', async () => {
    const other = await storeDirectory();
    const { project_id, key_id } = await createProject(other, 'Keys');
    const path = join(other, 'signing-key.pem');
    rmSync(path);
    const project = ['--project', project_id];

    const issued = await gateFault(other, 'key', 'issue', ...project);
    const rotated = await gateFault(other, 'key', 'rotate');
    await gate(other, 'project', 'create', '--name', 'second');
    const revoked = await gate(other, 'key', 'revoke', ...project, '--key', key_id);

    for (const { message } of [issued, rotated])
      expect(message).to.contain(`There is no root key in ${other}. Set GATE_SIGNING_KEY`);
    expect(revoked).to.deep.equal({ key_id, revoked: true });
    expect((await gate<ListedKey[]>(other, 'key', 'list', ...project)).length).to.equal(1);
    expect(existsSync(path)).to.equal(false);
  });

  it('says what is wrong with files that it cannot use, without a stack', async () => {
    const other = await storeDirectory();
    const [directory, file] = [temporaryDirectory(), join(temporaryDirectory(), 'file')];
    writeFileSync(file, '');
    writeFileSync(join(directory, 'manifest.json'), '{"format":');
    const audit = `audit verify --project p --export ${file} --proofs ${file} --log ${directory}`;
    const texts = {
      [`import --from ${directory}`]:
        /manifest\.json is not the manifest of an export\. Export into a new directory\./,
      [`export --to ${directory}`]:
        /manifest\.json is not the manifest of an export\. Export into a new directory\./,
      [`import --from ${file}`]: /manifest\.json cannot be used \(ENOTDIR\)\./,
      [`export --to ${directory}/{a}`]: /\{a\} contains characters that an export path must not contain/,
      [`export --to ${file}/to`]: /manifest\.json cannot be used \(ENOTDIR\)\./,
      [`backup --to ${file}/to`]:
        /to\.unfinished-\w* cannot be used \(ENOTDIR\)|file cannot be used \(EEXIST\)|to cannot be used \(ENOTDIR\)/,
      [`restore --from ${file}`]: /does not contain a whole backup\./,
      [`${audit} --state ${directory}`]: /--state takes a file, and .* is a directory\./,
    };

    for (const [words, text] of Object.entries(texts)) {
      const fault = await gateFault(other, ...words.split(' '));
      expect(fault, words).to.be.instanceOf(CommandError);
      expect(fault.message)
        .to.match(text)
        .and.not.match(/GATE_DATA_DIR|\n/);
    }

    writeFileSync(join(other, 'signing-key.pem'), 'no key');
    const fault = await gateFault(other, 'project', 'list');
    expect(fault).to.be.instanceOf(ConfigError);
    expect(fault.message).to.match(
      /- The key in .*signing-key\.pem cannot be read; it must be .* PKCS#8 PEM$/,
    );
    expect(readFileSync(file, 'utf8')).to.equal('');
  });

  it('accepts the same project names as POST /v1/projects', async () => {
    const create = (name: string) => ['project', 'create', '--name', name];

    const blank = await runGate({ dataDir, args: create('   ') });
    const long = await gateFault(dataDir, ...create('x'.repeat(101)));
    for (const name of ['  Support ', 'x'.repeat(100)]) await gate(dataDir, ...create(name));

    expect([blank.code, blank.stderr]).to.deep.equal([1, '/name must not be blank\n']);
    expect(long.message).to.equal('/name must have at most 100 characters');
    const names = (await gate<{ name: string }[]>(dataDir, 'project', 'list')).map(({ name }) => name);
    expect(names).to.deep.equal(['first', 'Support', 'x'.repeat(100)]);
  });

  it('fails if its result cannot be written: it may be the only copy of a key', () => {
    const full = openSync('/dev/full', 'w');

    const { status, stderr } = spawnSync(
      process.execPath,
      [scriptOf('cli/main', {}), 'project', 'create', '--name', 'Lost'],
      { env: environmentOf(dataDir, {}), stdio: ['ignore', full, 'pipe'], encoding: 'utf8' },
    );
    closeSync(full);

    expect([status, stderr]).to.deep.equal([
      1,
      'The result cannot be written to standard output: ENOSPC: no space left on device, write\n',
    ]);
  });

  it('reports an unknown project in every command that takes one', async () => {
    for (const words of ['key issue', 'key list', 'key revoke --key x', 'member list', 'verify'])
      expect((await gateFault(dataDir, ...words.split(' '), '--project', 'nope')).message, words).to.equal(
        'There is no project nope. "project list" lists the projects.',
      );
  });

  it('issues keys with rights, and lists them with their state but without their values', async () => {
    const kept = await createProject(dataDir, 'Keys');
    const project = ['--project', kept.project_id];
    const revoked = await issueKey(
      dataDir,
      kept.project_id,
      '--name',
      'ci',
      '--scope',
      'edit_policy',
      '--agent',
      'a',
      '--agent',
      'b, c',
    );
    await gate(dataDir, 'key', 'revoke', ...project, '--key', revoked.key_id);

    const more = [];
    for (let i = 0; i < 5; i += 1) more.push((await issueKey(dataDir, kept.project_id)).key_id);

    const listed = await gate<ListedKey[]>(dataDir, 'key', 'list', ...project);

    expect(listed.map(({ key_id }) => key_id)).to.deep.equal([kept.key_id, revoked.key_id, ...more]);
    const states = listed
      .slice(0, 2)
      .map(({ key_id, name, scope, agents, revoked_at }) => [
        [key_id, name, scope],
        agents,
        revoked_at !== null,
      ]);
    expect(states).to.have.deep.members([
      [[kept.key_id, '', 'emit_audit read_audit'], [], false],
      [[revoked.key_id, 'ci', 'edit_policy'], ['a', 'b, c'], true],
    ]);
    expect(JSON.stringify(listed)).not.to.contain(kept.key);
    const { message } = await gateFault(dataDir, 'key', 'issue', ...project, '--scope', 'root');
    expect(message).to.match(/^\/scope must be one or more of emit_audit, .* with a space between them$/);
  });

  it('key rotate says where the next GATE_SIGNING_KEY is, and resumes until it is in use', async () => {
    const dataDir = await storeDirectory();
    const env = { GATE_SIGNING_KEY: randomBytes(32).toString('base64') };
    const left = join(dataDir, `signing-key-${randomBytes(32).toString('base64url')}.pem`);
    writeFileSync(left, 'of a rotation that was killed at once');
    const rotate = (signingKey: string) =>
      gate<Rotated>({ GATE_DATA_DIR: dataDir, GATE_SIGNING_KEY: signingKey }, 'key', 'rotate');

    const { output, stdout, stderr } = await runGate({ dataDir, args: ['key', 'rotate', '--json'], env });
    const first = JSON.parse(stdout) as Rotated;
    const resumed = await rotate(env.GATE_SIGNING_KEY);
    const file = join(dataDir, `signing-key-${first.kid}.pem`);
    const mode = statSync(file).mode & 0o777;
    const withNext = { GATE_DATA_DIR: dataDir, GATE_SIGNING_KEY: file };
    const inUse = await gateFault(withNext, 'key', 'forget', '--key', first.kid);
    const later = await rotate(file);
    rmSync(join(dataDir, `signing-key-${later.kid}.pem`));
    const lost = await gateFault(withNext, 'key', 'rotate');

    expect(stderr).to.equal(`${left} belongs to no rotation: an interrupted one left it. Delete the file.\n`);
    expect(first.next_step).to.contain(`Set GATE_SIGNING_KEY to the key in ${file}`);
    expect(output).not.to.contain(env.GATE_SIGNING_KEY);
    expect(mode).to.equal(0o600);
    expect(resumed).to.include({ kid: first.kid, previous_kid: first.previous_kid });
    expect(inUse.message).to.equal(
      'This is the root key in use, and the ones before it are forgotten by their own --key.',
    );
    expect(later.previous_kid).to.equal(first.kid);
    expect(lost.message).to.contain(`was replaced by ${later.kid}, whose file is not in`);
  });
});

describe('the command line on a server', () => {
  it('verifies the reads of a project however long one takes', async () => {
    const server = await startClickHouse();
    const env = onServer(server, { GATE_DATA_DIR: temporaryDirectory() });
    const { id } = await gate<{ id: string }>(env, 'project', 'create', '--name', 'Slow');
    await server.fail({ on: 'other', table: 'llm_invocations', does: 'wait', ms: 5000, times: 1 });

    const result = await gate(env, 'verify', '--project', id);
    await server.kill();

    expect(result).to.deep.include({ differences: 0 });
  });
});
