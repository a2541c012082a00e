import { expect } from 'chai';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Handover } from '../../../server/store/handover.ts';
import { temporaryDirectory } from '../../support/service.ts';

const NEVER = new AbortController().signal;

describe('Handover', () => {
  let dataDir: string;
  beforeEach(() => (dataDir = temporaryDirectory()));

  const leave = (name: string, text: string, signal = NEVER) =>
    new Handover(dataDir).leave(name, async (file) => void (await file.write(text)), signal);

  it('gives a file to the next process once, and has removed it before', async () => {
    await leave('one', 'from the first');
    writeFileSync(join(dataDir, 'demo.json'), '{}');
    const next = new Handover(dataDir);
    await next.open();

    expect(readdirSync(dataDir)).to.deep.equal(['demo.json']);
    const file = next.take('one');
    expect(await file?.readFile('utf8')).to.equal('from the first');
    await file?.close();
    expect([next.take('one'), next.take('two')]).to.deep.equal([undefined, undefined]);
  });

  it('removes what nobody takes, and what a stop did not finish', async () => {
    await leave('one', 'text');
    writeFileSync(join(dataDir, 'handover-two.tmp'), 'half');
    const next = new Handover(dataDir);
    await next.open();

    expect([readdirSync(dataDir), next.take('two'), next.take('two.tmp')]).to.deep.equal([
      [],
      undefined,
      undefined,
    ]);
    await next.close();
  });

  it('leaves nothing when the writing fails or takes too long', async () => {
    const failing = new Handover(dataDir).leave('one', () => Promise.reject(new Error('ENOSPC')), NEVER);
    const faults = await Promise.all([
      failing.catch((error: Error) => error.message),
      leave('two', 'text', AbortSignal.abort(new Error('late'))).catch((error: Error) => error.message),
    ]);

    expect([faults, readdirSync(dataDir)]).to.deep.equal([['ENOSPC', 'late'], []]);
  });
});
