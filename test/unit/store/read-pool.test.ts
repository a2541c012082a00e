import { expect } from 'chai';
import { READ_WAIT_MS_MAX, READS_RUNNING_MAX, READS_WAITING_MAX } from '../../../server/limits.ts';
import { inProcess } from '../../support/in-process.ts';
import type * as calls from './support/pool-calls.ts';

const TOO_MANY = 5;
const CALLS = new URL('support/pool-calls.ts', import.meta.url);

type Answer<Name extends keyof typeof calls> = Awaited<ReturnType<(typeof calls)[Name]>>;

const inPool = <Name extends keyof typeof calls>(name: Name, argument: unknown = null) =>
  inProcess<Answer<Name>>(CALLS, name, argument);

describe('the pool of reads', () => {
  it('stops the statement in the store when its caller disconnects, and continues to read', async () => {
    const answer = await inPool('stopSlowStatement');

    expect(answer).to.include({ before: 1, isStopped: true, code: 'overloaded' });
    expect(answer.tookMs).to.be.below(2000);
    expect(answer.quick).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('stops a statement before or while it begins, and never the next one on its connection', async () => {
    expect(await inPool('stopAmongOthers')).to.deep.equal({ failed: 0, wrong: 0 });
  });

  it('answers nobody with rows of a statement that was stopped', async () => {
    const answers = await inPool('answersAfterStop');

    const round = [...Array<string>(4).fill('overloaded'), ...[1, 2, 3, 4].map((n) => [{ n }])];
    expect(answers).to.deep.equal([...round, ...round, ...round]);
  });

  it('refuses at once when the queue is full, and in time after a wait', async () => {
    const count = READS_RUNNING_MAX + READS_WAITING_MAX + TOO_MANY;
    const lastsMs = READ_WAIT_MS_MAX + 1500;

    const { codes, times } = await inPool('crowd', { count, lastsMs });

    expect(codes).to.deep.equal(['overloaded']);
    const refused = times.slice(0, TOO_MANY);
    const waited = times.slice(TOO_MANY, TOO_MANY + READS_WAITING_MAX);
    const stopped = times.slice(TOO_MANY + READS_WAITING_MAX);
    expect(Math.max(...refused)).to.be.below(500);
    expect(Math.min(...waited)).to.be.at.least(READ_WAIT_MS_MAX - 100);
    expect(Math.max(...waited)).to.be.at.most(READ_WAIT_MS_MAX + 500);
    expect(stopped).to.have.length(READS_RUNNING_MAX);
    expect(Math.min(...stopped)).to.be.at.least(lastsMs - 100);
  });
});
