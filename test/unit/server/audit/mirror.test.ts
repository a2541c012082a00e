import { expect } from 'chai';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { CommandError } from '../../../../server/cli/command-error.ts';
import { auditMirror, auditVerify } from '../../../../server/cli/audit/commands.ts';
import { listen } from '../../../support/listen.ts';
import { endlessBytes, startLogServer } from '../../../support/log-server.ts';
import {
  entryOf,
  History,
  LOG_KEY,
  ORIGIN,
  OTHER_KEY,
  PROJECT,
  ROOT_KEYS,
} from '../../../support/proof-vectors/history.ts';
import { checkpointOf, filesOfLog, sha256, vkeyOf } from '../../../support/proof-vectors/log.ts';
import { temporaryDirectory } from '../../../support/service.ts';

const records = new History(5).young(700);
const head = { origin: ORIGIN, entries: records.map(entryOf), key: LOG_KEY };
const logOf = (size: number, changes: Partial<typeof head> = {}) =>
  filesOfLog({ ...head, entries: head.entries.slice(0, size), ...changes });
const forked = head.entries.map((entry, index) => (index === 200 ? sha256(entry) : entry));

const HUGE = Buffer.from(checkpointOf(head, 2 ** 52));

describe('audit mirror', () => {
  let server: Awaited<ReturnType<typeof startLogServer>>;
  before('a service with a log', async () => {
    server = await startLogServer(PROJECT);
    server.serve('/v1/.well-known/keys', Buffer.from(ROOT_KEYS));
  });
  after(() => server.close());

  /** Mirrors a log of this size and forgets the requests. */
  async function mirrored(size: number): Promise<string> {
    const to = temporaryDirectory();
    server.serveLog(logOf(size));
    await mirror(to);
    server.requests.length = 0;
    return to;
  }
  const mirror = (to: string, more: Record<string, string> = {}) =>
    auditMirror(PROJECT, { url: `${server.url}/`, to, ...more });
  const filesIn = (directory: string) =>
    globSync('**', { cwd: directory, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
      .sort((a, b) => (a < b ? -1 : 1));
  const checkpointIn = (to: string, name = 'checkpoint') => readFileSync(join(to, name), 'utf8');

  it('does not keep a proxy page as a tile, although the run ends at another one', async () => {
    const to = temporaryDirectory();
    server.serveLog(new Map([...logOf(300), ['tile/0/000', Buffer.from('<html>Sign in</html>')]]));
    server.failing.add('log/tile/entries/001.p/44');
    await mirror(to).catch(() => undefined);
    server.failing.clear();
    server.serveLog(logOf(300));

    expect((await mirror(to)).exitCode).to.equal(0);
  });

  it('removes the files of an interrupted run if they are invalid', async () => {
    const to = temporaryDirectory();
    server.serveLog(logOf(300));
    mkdirSync(join(to, 'tile/0'), { recursive: true });
    writeFileSync(join(to, 'tile/0/000'), Buffer.alloc(8192));

    expect((await mirror(to)).exitCode).to.equal(13);
    expect((await mirror(to)).exitCode).to.equal(0);
  });

  it('writes the whole log in a form that any web server can serve', async () => {
    const to = temporaryDirectory();
    server.serveLog(logOf(300));

    const { data, exitCode } = await mirror(to);

    expect([exitCode, data['tree_size']]).to.deep.equal([0, 300]);
    expect(filesIn(to)).to.deep.equal([
      'checkpoint',
      'keys.json',
      'tile/0/000',
      'tile/0/001.p/44',
      'tile/1/000.p/1',
      'tile/entries/000',
      'tile/entries/001.p/44',
      'vkey',
    ]);
  });

  it('fetches only what is new, and removes the partial tiles that it replaces', async () => {
    const to = await mirrored(300);
    server.serveLog(logOf(600));

    const { data } = await mirror(to);

    expect(server.requests.filter((path) => path.includes('tile')).toSorted()).to.deep.equal([
      'log/tile/0/001',
      'log/tile/0/002.p/88',
      'log/tile/1/000.p/2',
      'log/tile/entries/001',
      'log/tile/entries/002.p/88',
    ]);
    expect([data['tree_size_before'], data['tree_size']]).to.deep.equal([300, 600]);
    expect(readFileSync(join(to, 'checkpoint.before'), 'utf8')).to.equal(
      checkpointOf({ ...head, entries: head.entries.slice(0, 300) }),
    );
    expect(filesIn(to).filter((name) => name.includes('.p'))).to.deep.equal([
      'tile/0/002.p/88',
      'tile/1/000.p/2',
      'tile/entries/002.p/88',
    ]);
  });

  it('fetches no tile when there is nothing new', async () => {
    const to = await mirrored(300);

    await mirror(to);

    expect(server.requests).to.deep.equal(['log/checkpoint', '/v1/.well-known/keys']);
  });

  const refused: [string, ReturnType<typeof logOf>, number][] = [
    ['a fork', logOf(600, { entries: forked.slice(0, 600) }), 13],
    ['a fork of the same size', logOf(300, { entries: forked.slice(0, 300) }), 13],
    ['an older log', logOf(200), 13],
    ['another key', logOf(600, { key: OTHER_KEY }), 14],
    ['an altered tile', new Map([...logOf(600), ['tile/0/001', Buffer.alloc(8192)]]), 13],
    ['a tile of another length', new Map([...logOf(600), ['tile/0/001', Buffer.alloc(100)]]), 13],
    ['a log without a tile', new Map([...logOf(600)].filter(([path]) => path !== 'tile/0/001')), 13],
    ['a size that no log has', new Map([...logOf(600), ['checkpoint', HUGE]]), 13],
    ['altered entries', new Map([...logOf(600), ['tile/entries/001', Buffer.alloc(256 * 34)]]), 13],
  ];
  for (const [name, log, expected] of refused)
    it(`refuses ${name} with ${expected}, keeps the evidence, and continues when the log is valid again`, async () => {
      const to = await mirrored(300);
      const before = checkpointIn(to);
      server.serveLog(log);

      const { exitCode } = await mirror(to);

      expect(exitCode).to.equal(expected);
      expect(checkpointIn(to)).to.equal(before);
      expect(checkpointIn(to, 'checkpoint.refused')).to.equal(String(log.get('checkpoint')));
      server.serveLog(logOf(600));
      expect((await mirror(to)).exitCode).to.equal(0);
    });

  const damages: [string, (to: string) => void, RegExp][] = [
    [
      'checkpoint',
      (to) => writeFileSync(join(to, 'checkpoint'), 'x'),
      /checkpoint is damaged: .*signed note/,
    ],
    [
      'tile',
      (to) => writeFileSync(join(to, 'tile/0/000'), Buffer.alloc(8192)),
      /is damaged: .*tile\/entries\/000/,
    ],
    [
      'key',
      (to) => writeFileSync(join(to, 'vkey'), vkeyOf('gatehouse/other', LOG_KEY)),
      /is the key of gatehouse\/other/,
    ],
  ];
  for (const [what, damage, words] of damages)
    it(`does not accuse the service when the ${what} of its own copy is different`, async () => {
      const to = await mirrored(300);
      damage(to);
      server.serveLog(logOf(600));

      const error = await mirror(to).catch((reason: unknown) => reason);

      expect(error).to.be.instanceOf(CommandError);
      expect((error as Error).message).to.match(words);
      expect(filesIn(to)).not.to.include('checkpoint.refused');
    });

  it('fetches a truncated tile again', async () => {
    const to = await mirrored(300);
    writeFileSync(join(to, 'tile/0/000'), '');

    expect((await mirror(to)).exitCode).to.equal(0);
    expect(server.requests).to.include('log/tile/0/000');
  });

  it('pins the key that is given', async () => {
    server.serveLog(logOf(300, { key: OTHER_KEY }));
    const vkey = vkeyOf(ORIGIN, LOG_KEY);

    const { exitCode } = await mirror(temporaryDirectory(), { vkey });

    expect(exitCode).to.equal(14);
  });

  it('does not accept another key for a directory that has one', async () => {
    const to = await mirrored(300);

    const error = await mirror(to, { vkey: vkeyOf(ORIGIN, OTHER_KEY) }).catch((reason: unknown) => reason);

    expect((error as Error).message).to.contain('holds another key than --vkey');
  });

  it('sends the bearer key', async () => {
    server.authorizations.clear();
    server.serveLog(logOf(3));

    await mirror(temporaryDirectory(), { bearer: 'key-1' });

    expect([...server.authorizations]).to.deep.equal(['Bearer key-1']);
  });

  it('reports which address cannot be reached', async () => {
    const options = { url: 'http://127.0.0.1:1', to: temporaryDirectory() };

    const error = await auditMirror(PROJECT, options).catch((reason: unknown) => reason);

    expect((error as Error).message).to.match(/^http:\/\/127\.0\.0\.1:1\/.* cannot be reached: /);
  });

  for (const [what, answer, shown] of [
    ['breaks off', (response: ServerResponse) => response.socket?.destroySoon(), ''],
    ['does not end', (response: ServerResponse) => void Readable.from(endlessBytes()).pipe(response), ''],
    [
      'is a problem',
      (response: ServerResponse) => response.end('"detail":"A file is damaged","code":"internal"}'),
      ': internal. A file is damaged',
    ],
    [
      'has control characters',
      (response: ServerResponse) => response.end('"detail":"\u001b[2J","code":"internal"}'),
      ': internal',
    ],
  ] as const)
    it(`reports the status of an error whose body ${what}`, async () => {
      const failing = createServer((_, response) => {
        response.writeHead(500).write('{"title":"Internal",');
        answer(response);
      });
      const url = `http://127.0.0.1:${await listen(failing)}`;

      const error = await auditMirror(PROJECT, { url, to: temporaryDirectory() }).catch(
        (reason: unknown) => reason,
      );

      expect((error as Error).message).to.match(new RegExp(` answered 500${shown}\\.$`));
      failing.closeAllConnections();
      failing.close();
    });

  for (const path of ['log/vkey', 'log/checkpoint', '/v1/.well-known/keys'])
    it(`does not read all of an endless ${path}`, async () => {
      server.serveLog(logOf(300));
      server.endless.add(path);

      const error = await mirror(temporaryDirectory()).catch((reason: unknown) => reason);

      server.endless.clear();
      expect(error).to.be.instanceOf(CommandError);
      expect((error as Error).message).to.match(
        new RegExp(`${path} failed: the response has more than \\d+ bytes`),
      );
    });

  it('does not read all of an endless tile', async () => {
    server.serveLog(logOf(300));
    server.endless.add('log/tile/0/000');

    const { exitCode } = await mirror(temporaryDirectory());

    server.endless.clear();
    expect(exitCode).to.equal(13);
  });

  it('creates a directory that verifies offline', async () => {
    const to = await mirrored(700);
    const files = { export: join(to, 'export.ndjson'), proofs: join(to, 'proofs.ndjson') };
    const newestFirst = records.map((record, index) => ({ ...record, index })).toReversed();
    writeFileSync(files.export, newestFirst.map(({ line }) => `${line}\n`).join(''));
    writeFileSync(files.proofs, newestFirst.map(proofLine).join(''));

    const { data, exitCode } = await auditVerify(PROJECT, { ...files, log: to, at: '2026-11-22T12:00:00Z' });

    expect([exitCode, data['checked'], data['missing']]).to.deep.equal([0, 700, 0]);
  });

  describe('with the option --url of audit verify', () => {
    it('takes no files, which it would not read', async () => {
      const options = { url: server.url, export: 'e', at: '2026-11-22T12:00:00Z' };

      const error = await auditVerify(PROJECT, options).catch((reason: unknown) => reason);

      expect((error as Error).message).to.equal(
        '--url fetches what it verifies: leave out --export and --at.',
      );
    });

    it('says that an empty project may not exist', async () => {
      server.serveLog(logOf(0));
      serveRecords(0, () => null);

      const { text, exitCode } = await auditVerify(PROJECT, { url: server.url });

      expect(exitCode).to.equal(0);
      expect(text).to.contain('Is its id right?');
    });

    function serveRecords(count: number, index: (at: number) => number | null): void {
      const newestFirst = records
        .slice(0, count)
        .map((record, at) => ({ ...record, index: index(at) }))
        .toReversed();
      server.serve(
        'audit/decisions/export',
        Buffer.from(newestFirst.map(({ line }) => `${line}\n`).join('')),
      );
      server.serve('audit/decisions/export/proofs', Buffer.from(newestFirst.map(proofLine).join('')));
    }
    const verify = (more: Record<string, string> = {}, wait?: (ms: number) => Promise<undefined>) =>
      auditVerify(PROJECT, { url: server.url, ...more }, wait);

    it('verifies a service and keeps the state', async () => {
      const state = join(temporaryDirectory(), 'state.json');
      server.serveLog(logOf(20));
      serveRecords(20, (at) => at);

      const first = await verify({ state });
      const second = await verify({ state });

      expect([first.exitCode, second.exitCode]).to.deep.equal([0, 0]);
      expect(first.data['trusted_on_first_use']).to.deep.equal(['log key', 'history']);
      expect(second.data['pinned']).to.deep.equal(['log key', 'history']);
      const kept = JSON.parse(readFileSync(state, 'utf8')) as {
        checkpoint: string;
        seen: [string, number][];
      };
      expect(kept.checkpoint).to.equal(checkpointOf({ ...head, entries: head.entries.slice(0, 20) }));
      expect(kept.seen.map(([, size]) => size)).to.deep.equal([20, 20]);
    });

    it('keeps the state as it was when history was rewritten', async () => {
      const state = join(temporaryDirectory(), 'state.json');
      server.serveLog(logOf(20));
      serveRecords(20, (at) => at);
      await verify({ state });
      const before = readFileSync(state, 'utf8');
      server.serveLog(logOf(10));
      serveRecords(10, (at) => at);

      const { exitCode } = await verify({ state });

      expect(exitCode).to.equal(13);
      expect(readFileSync(state, 'utf8')).to.equal(before);
    });

    it('waits for records that are not in the log yet', async () => {
      server.serveLog(logOf(21));
      serveRecords(21, (at) => (at === 20 ? null : at));
      const waits: number[] = [];
      const wait = (ms: number) => {
        waits.push(ms);
        if (waits.length === 2) serveRecords(21, (at) => at);
        return Promise.resolve(undefined);
      };

      const { data, exitCode } = await verify({}, wait);

      expect([exitCode, data['checked'], data['too_new']]).to.deep.equal([0, 21, 0]);
      expect(waits).to.deep.equal([1_000, 2_000]);
    });

    it('reports records that enter the log while it runs as too new', async () => {
      server.serveLog(logOf(20));
      serveRecords(21, (at) => (at === 20 ? null : at));
      const wait = () => {
        server.serveLog(logOf(24));
        serveRecords(21, (at) => at);
        return Promise.resolve(undefined);
      };

      const { data, exitCode } = await verify({}, wait);

      expect([exitCode, data['checked'], data['missing'], data['too_new']]).to.deep.equal([0, 21, 0, 3]);
    });

    it('reports records that do not enter the log within ten seconds as added', async () => {
      server.serveLog(logOf(20));
      serveRecords(21, (at) => (at === 20 ? null : at));

      let waitedMs = 0;
      const wait = (ms: number) => {
        waitedMs += ms;
        return Promise.resolve(undefined);
      };

      const { data, exitCode } = await verify({}, wait);

      expect([exitCode, data['added'], data['too_new']]).to.deep.equal([12, 1, 0]);
      expect(waitedMs).to.be.within(9_000, 11_000);
    });

    it('reports a record as added after ten seconds, however far ahead the service clock is', async () => {
      const ahead = new History(6).record({ receivedMs: Date.now() + 3_600_000 });
      server.serveLog(logOf(0));
      server.serve('audit/decisions/export', Buffer.from(`${ahead.line}\n`));
      server.serve('audit/decisions/export/proofs', Buffer.from(proofLine({ ...ahead, index: null })));

      const { data } = await verify({}, () => Promise.resolve(undefined));

      expect([data['added'], data['too_new']]).to.deep.equal([1, 0]);
    });

    it('leaves no file', async () => {
      const before = process.env['TMPDIR'];
      const directory = temporaryDirectory();
      process.env['TMPDIR'] = directory;
      server.serveLog(logOf(20));
      serveRecords(20, (at) => at);

      const { exitCode } = await verify().finally(() => {
        if (before === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = before;
      });

      expect([exitCode, filesIn(directory)]).to.deep.equal([0, []]);
    });

    it('fetches no tile of a checkpoint that is not signed', async () => {
      server.serveLog(
        new Map([...logOf(20, { key: OTHER_KEY }), ['vkey', Buffer.from(vkeyOf(ORIGIN, LOG_KEY))]]),
      );
      server.requests.length = 0;

      const { exitCode } = await verify();

      expect(exitCode).to.equal(14);
      expect(server.requests.some((path) => path.includes('tile'))).to.equal(false);
    });
  });
});

function proofLine({
  event_id,
  salt,
  index,
}: {
  event_id: string;
  salt: Buffer;
  index: number | null;
}): string {
  return `${JSON.stringify({ event_id, index, salt: salt.toString('base64') })}\n`;
}
