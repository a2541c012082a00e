import { expect } from 'chai';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Handover } from '../../../server/store/handover.ts';
import { temporaryDirectory } from '../../support/service.ts';

const NEVER = new AbortController().signal;

describe('Handover', () => {
  let dataDir: string;
  beforeEach(() => (dataDir = temporaryDirectory()));

  const leave = (name: string, text: string, { isFinal = true, signal = NEVER } = {}) =>
    new Handover(dataDir).leave(name, async (file) => void (await file.write(text)), { isFinal, signal });

  /** Opens what was left, like a process that is then killed, and returns what it takes. */
  async function takeAll(...names: string[]) {
    const next = new Handover(dataDir);
    await next.open();
    const taken = names.map((name) => next.take(name));
    return Promise.all(
      taken.map(async (one) => {
        const text = await one?.file.readFile('utf8');
        await one?.file.close();
        return one && [text, one.isFinal];
      }),
    );
  }

  it('gives the file of a stop to the next process as final, and to later ones as one that may be behind', async () => {
    await leave('one', 'of a stop');
    writeFileSync(join(dataDir, 'demo.json'), '{}');

    expect(await takeAll('one', 'two')).to.deep.equal([['of a stop', true], undefined]);
    expect(readdirSync(dataDir)).to.have.members(['demo.json', 'handover-one.behind']);
    expect(await takeAll('one')).to.deep.equal([['of a stop', false]]);
  });

  it('has one file per name: the latest', async () => {
    await leave('one', 'of a running process', { isFinal: false });
    expect(readdirSync(dataDir)).to.deep.equal(['handover-one.behind']);
    await leave('one', 'of its stop');
    expect(readdirSync(dataDir)).to.deep.equal(['handover-one']);
    expect(await takeAll('one')).to.deep.equal([['of its stop', true]]);
    await leave('one', 'of the next', { isFinal: false });
    expect(await takeAll('one')).to.deep.equal([['of the next', false]]);
  });

  it('gives a file once, and removes what nobody may use and what a stop did not finish', async () => {
    await leave('one', 'text');
    await leave('two', 'text');
    writeFileSync(join(dataDir, 'handover-three.behind.tmp'), 'half');
    const next = new Handover(dataDir);
    await next.open();
    await next.take('one')?.file.close();

    expect([next.take('one'), next.take('three'), next.take('three.behind.tmp')]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    expect(readdirSync(dataDir)).to.have.members(['handover-one.behind', 'handover-two.behind']);
    await next.clear();
    expect([readdirSync(dataDir), next.take('two')]).to.deep.equal([['handover-one.behind'], undefined]);
    await next.remove('one');
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });

  it('leaves nothing when the writing fails or takes too long', async () => {
    const failing = new Handover(dataDir).leave('one', () => Promise.reject(new Error('ENOSPC')), {
      isFinal: true,
      signal: NEVER,
    });
    const late = leave('two', 'text', { signal: AbortSignal.abort(new Error('late')) });
    const faults = await Promise.all(
      [failing, late].map((leaving) => leaving.catch((error: Error) => error.message)),
    );

    expect([faults, readdirSync(dataDir)]).to.deep.equal([['ENOSPC', 'late'], []]);
  });
});
