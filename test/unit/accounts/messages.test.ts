import { expect } from 'chai';
import { messageFrom } from '../../../server/mail/messages.ts';

const LETTERHEAD = { serviceName: 'Gatehouse', dashboardUrl: 'http://localhost:8000' };
const LETTER = { to: 'ann@example.com', token: 'T0ken_-', isClaimed: true };

describe('messageFrom', () => {
  it('writes the subjects and the links of both mails', () => {
    const verify = messageFrom({ ...LETTER, kind: 'verify' }, LETTERHEAD);
    const reset = messageFrom({ ...LETTER, kind: 'reset' }, LETTERHEAD);

    expect([verify.subject, reset.subject]).to.deep.equal([
      'Verify your Gatehouse account',
      'Reset your Gatehouse password',
    ]);
    expect(verify.text).to.match(/^http:\/\/localhost:8000\/verify-email\/T0ken_-$/m);
    expect(reset.text).to.match(/^http:\/\/localhost:8000\/reset-password\/T0ken_-$/m);
  });

  it('warns of a registration by somebody else only if the address was never verified', () => {
    const textOf = (isClaimed: boolean) =>
      messageFrom({ ...LETTER, isClaimed, kind: 'verify' }, LETTERHEAD).text;

    expect(textOf(false)).to.match(/^Someone registered .*If you did not register, do not open it/s);
    expect(textOf(true)).to.match(/^Someone asked to verify .*If this was not you, ignore this e-mail/s);
    expect(textOf(true)).not.to.contain('register');
  });

  it('escapes the name of the service in HTML', () => {
    const serviceName = `<img src=x onerror="1">&'`;
    const { html } = messageFrom({ ...LETTER, kind: 'verify' }, { ...LETTERHEAD, serviceName });

    expect(html).not.to.contain('<img');
    expect(html).to.contain('&lt;img src=x onerror=&quot;1&quot;&gt;&amp;&#39;');
  });
});
