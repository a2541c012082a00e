import { expect } from 'chai';
import { Passwords } from '../../../server/accounts/passwords.ts';

// On a slow machine, four comparisons take many seconds.
const passwords = new Passwords({ runningMax: 2, waitingMax: 10, waitMsMax: 60_000 });
const hash = (password: string) => passwords.run((hashing) => hashing.hash(password));
const matches = (password: string, stored: string | undefined) =>
  passwords.run((hashing) => hashing.matches(password, stored));

describe('Passwords', () => {
  it('are hashed by scrypt with the costs that OWASP recommends and a random salt', async () => {
    const hashes = await Promise.all([hash('correct horse'), hash('correct horse')]);

    for (const hash of hashes) expect(hash).to.match(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(hashes[0]).not.to.equal(hashes[1]);
  });

  it('match only their own hash', async () => {
    const stored = await hash('correct horse');

    const results = await Promise.all(
      ['correct horse', 'Correct horse', 'correct horse ', ''].map((text) => matches(text, stored)),
    );

    expect(results).to.deep.equal([true, false, false, false]);
  });

  it('match a hash with other costs, which are stored with it', async () => {
    // RFC 7914 section 12: N = 1024, r = 8, p = 16. A 32-byte key equals the first 32 of the 64 bytes there.
    const stored = '$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI';

    expect(await matches('password', stored)).to.equal(true);
  });

  it('take the same time to compare for an account that does not exist', async () => {
    const stored = await hash('correct horse');
    const timeOf = async (given: string | undefined) => {
      const startMs = performance.now();
      expect(await matches('wrong', given)).to.equal(false);
      return performance.now() - startMs;
    };
    const known: number[] = [];
    const unknown: number[] = [];

    let difference = 1;

    // The fastest few times are similar; of more attempts if the machine is busy.
    for (let i = 0; i < 5 || (i < 25 && difference >= 0.4); i += 1) {
      known.push(await timeOf(stored));
      unknown.push(await timeOf(undefined));
      const [a, b] = [Math.min(...known), Math.min(...unknown)];
      difference = Math.abs(a - b) / Math.max(a, b);
    }

    expect(difference, `${Math.min(...known)} and ${Math.min(...unknown)} ms`).to.be.below(0.4);
  });
});
