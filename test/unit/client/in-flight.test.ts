import { expect } from 'chai';
import { InFlight } from '../../../client/audit/in-flight.ts';

describe('tasks in flight', () => {
  it('one that rejects frees its slot, and its error ends neither a drain nor the process', async () => {
    const inFlight = new InFlight(1);
    inFlight.tryStart(() => Promise.reject(new Error('it must not')));
    await inFlight.drain();

    expect(inFlight.size).to.equal(0);
  });
});
