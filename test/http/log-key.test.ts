import { expect } from 'chai';
import { createPublicKey, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { verifierKeyText } from '../../client/proof/index.ts';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { askLog, logKey, logText } from '../support/log.ts';
import { runGate } from '../support/processes.ts';
import { type Problem } from '../support/reads.ts';
import { startTestService } from '../support/service.ts';

describe('the log key', () => {
  it('is created at first boot, separate from the root key, and no service signs with another one', async () => {
    const first = await startTestService();
    const key = await logKey(first);
    const checkpoint = await logText(first, 'checkpoint');
    await first.stop();
    const path = join(first.dataDir, 'log-key.pem');
    const { x } = createPublicKey(readFileSync(path)).export({ format: 'jwk' });

    const env = { GATE_LOG_KEY: randomBytes(32).toString('base64') };
    const second = await startTestService({ dataDir: first.dataDir, env });
    const answers = await Promise.all([askLog(second, 'checkpoint'), askLog(second, 'vkey')]);
    const problems = (await Promise.all(answers.map((answer) => answer.json()))) as Problem[];
    const recorded = await sendDecision(second, decisionEvent());
    const tile = await askLog(second, 'tile/0/001');
    const args = ['audit', 'verify', '--project', first.project_id, '--url', second.url];
    const audit = await runGate({ dataDir: first.dataDir, args });
    await second.stop();

    const third = await startTestService({ dataDir: first.dataDir, env: { GATE_LOG_KEY: path } });
    const again = await logText(third, 'vkey');
    await third.stop();

    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(Buffer.from(key.publicKey).toString('base64url')).to.equal(x);
    expect(checkpoint).to.include(`— gatehouse/${first.project_id} `);
    expect(x).to.not.equal(
      createPublicKey(readFileSync(join(first.dataDir, 'signing-key.pem'))).export({ format: 'jwk' }).x,
    );
    expect(problems.map(({ status, code }) => [status, code])).to.deep.equal([
      [503, 'log_key_mismatch'],
      [503, 'log_key_mismatch'],
    ]);
    expect(audit.code).to.equal(1);
    expect(audit.stderr).to.match(
      /^http:\S+\/log\/checkpoint answered 503: log_key_mismatch\. The logs of this store are signed with the key .*\.\n$/,
    );
    expect(recorded.status).to.equal(202);
    expect(tile.status).to.equal(404);
    expect(second.output())
      .to.match(/"level":"?(50|error|ERROR).*log_key_mismatch/i)
      .and.not.include(env.GATE_LOG_KEY);
    expect(again).to.equal(`${verifierKeyText(key)}\n`);
    expect(third.output()).to.not.include('log_key_mismatch');
  });
});
