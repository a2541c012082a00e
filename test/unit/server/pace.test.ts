import { expect } from 'chai';
import { Pace } from '../../../server/pace.ts';
import { RequestError } from '../../../server/errors.ts';

describe('Pace', () => {
  it('lets a burst pass, then a bounded number of calls wait, and refuses the others as overloaded', async () => {
    const pace = new Pace({ perSecond: 1, burst: 2, waitMsMax: 20, waitingMax: 3 });
    const call = () =>
      pace.turn().then(
        () => 'passed',
        (error: unknown) => error instanceof RequestError && error.code,
      );

    const first = await Promise.all(Array.from({ length: 7 }, call));

    const [passed, refused] = [Array(5).fill('passed'), Array(2).fill('overloaded')];
    expect(first).to.deep.equal([...passed, ...refused]);
    expect(await call()).to.equal('passed');
  });
});
