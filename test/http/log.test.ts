import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { EMPTY_ROOT, verifierKeyText } from '../../client/proof/index.ts';
import { askLog, checkpointFrom, logKey, logText } from '../support/log.ts';
import { ask } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('the log of a project', () => {
  const service = useSharedService();

  it('begins with a signed checkpoint of size 0', async () => {
    const response = await askLog(service, 'checkpoint');
    const key = await logKey(service);

    const checkpoint = await checkpointFrom(service, 0);

    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(key.name).to.equal(`gatehouse/${service.project_id}`);
    expect(await logText(service, 'vkey')).to.equal(`${verifierKeyText(key)}\n`);
    expect(checkpoint).to.deep.include({ origin: key.name, size: 0, root: EMPTY_ROOT });
    expect(checkpoint.signatures).to.have.length(1);
  });

  it('answers 404 for the proof of what is not there, and for tiles that the log does not have', async () => {
    const missing = await ask(service, `decisions/${randomUUID()}/proof`);
    const odd = await ask(service, 'decisions/odd/proof');
    const paths = [
      'tile/0/000', 'tile/0/001', 'tile/1/000', 'tile/0/0', 'tile/0/000.p/0', 'tile/0/000.p/256', 'tile/00/000',
      'tile/64/000', 'tile/-1/000', 'tile/0/x000/000', 'tile/0/000.p/01', 'tile/entries/000', 'tile/entries/',
      'tile/', 'tile', 'tile/0/999.p/9', 'tile/0/x999/x999/x999/x999/999', 'tile/63/000.p/1', 'tile/0/000.p/1/', 'other',
      'tile/0/%30%30%30', 'tile/0/x000%2F000',
    ]; // prettier-ignore
    const statuses = await Promise.all(paths.map(async (path) => (await askLog(service, path)).status));

    expect([missing, odd].map(({ status }) => status)).to.deep.equal([404, 404]);
    expect(statuses).to.deep.equal(paths.map(() => 404));
  });
});
