import { expect } from 'chai';
import { shellQuoted } from '../../../server/dashboard/src/text/shell-quoted.ts';
import { runCommand } from '../../support/processes.ts';

describe('a value in a command of the dashboard', () => {
  it('reaches the program unchanged, whatever it contains, and hides nothing from its reader', async () => {
    const value = { name: `it's "$HOME" \`id\` \\ \n`, tools: ['\u202egnp.exe', '\u{e0041}', '\ud800', 'é'] };

    const quoted = shellQuoted(value);
    const { stdout } = await runCommand('sh', ['-c', `printf %s ${quoted}`], { env: {} });

    expect(JSON.parse(stdout)).to.deep.equal(value);
    expect(quoted).to.not.match(/[\u202a-\u202e\ud800-\udbff]/);
  });
});
