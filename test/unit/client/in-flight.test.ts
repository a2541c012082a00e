import { expect } from 'chai';
import { InFlight } from '../../../client/audit/in-flight.ts';

describe('tasks in flight', () => {
  it('frees the slot of a task that rejects; its error ends neither drain nor the process', async () => {
    const inFlight = new InFlight(1);
    inFlight.tryStart(() => Promise.reject(new Error('it must not')));
    await inFlight.drain();

    expect(inFlight.size).to.equal(0);
  });
});
