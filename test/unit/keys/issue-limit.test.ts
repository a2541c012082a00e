import { expect } from 'chai';
import { keyEndpoints } from '../../../server/keys/endpoints.ts';
import { KEYS_ISSUED_PER_ACCOUNT_MAX } from '../../../server/limits.ts';

type Deps = Parameters<typeof keyEndpoints>[0];

describe('the issuing of keys', () => {
  it('is refused beyond 1,000 keys of an account in 15 minutes, those without success included', async () => {
    const refusal = new Error('no such key');
    const bearerKeys = { issue: () => Promise.reject(refusal) } as unknown as Deps['bearerKeys'];
    const issueKey = keyEndpoints({ bearerKeys } as Deps).find(({ id }) => id === 'issueKey');
    const issueAs = (account_id: string) =>
      issueKey?.handle({ caller: { actor: { account_id } }, params: { id: '' }, body: {} } as never);
    const codeFor = async (accountId: string) => {
      const error = await Promise.resolve(issueAs(accountId)).catch((thrown: unknown) => thrown);
      return error === refusal ? 'tried' : (error as { code: string }).code;
    };

    const tries = Array.from({ length: KEYS_ISSUED_PER_ACCOUNT_MAX }, () => codeFor('eve'));
    expect(new Set(await Promise.all(tries))).to.deep.equal(new Set(['tried']));
    expect([await codeFor('eve'), await codeFor('ann')]).to.deep.equal(['rate_limited', 'tried']);
  });
});
