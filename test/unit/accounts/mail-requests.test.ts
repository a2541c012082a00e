import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountStore } from '../../../server/accounts/account-store.ts';
import { MailRequests } from '../../../server/accounts/mail-requests.ts';
import type { MailedTokens } from '../../../server/accounts/mailed-tokens.ts';
import type { Mailer } from '../../../server/mail/mailer.ts';

describe('mail requests', () => {
  it('that still wait at the stop are dropped and logged', async () => {
    const dropped: string[] = [];
    const requests = new MailRequests({
      store: { find: () => new Promise(() => undefined) } as unknown as AccountStore,
      tokens: {} as MailedTokens,
      mailer: {
        drop: (kind: string, reason: string) => dropped.push(`${kind} ${reason}`),
      } as unknown as Mailer,
    });
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com'])
      requests.post({ kind: 'reset', email, address: '192.0.2.1' });
    await nextTurn();

    await requests.close();
    await nextTurn();

    // The first one was not waiting: the store never answered it.
    expect(dropped).to.deep.equal(['reset store_unavailable', 'reset store_unavailable']);
  });
});
