import { expect } from 'chai';
import { loadGateway, type LoadResult, type Victim } from '../support/gateway-load.ts';

const CALLS = 400;
/** More than a client makes before this process, however busy the machine is, has killed something. */
const KILLED = { calls: 100 * CALLS, killAfter: CALLS / 4 };

describe('the MCP gateway under load', () => {
  const expectNothingDeniedRan = ({ ran, recorded }: LoadResult): void => {
    expect(ran.filter((call) => !call.startsWith('search '))).to.deep.equal([]);
    expect(new Set(ran)).to.have.property('size', ran.length);
    expect(recorded.filter((call) => !/^(search \d+ allow|write \d+ deny)$/.test(call))).to.deep.equal([]);
  };
  /** The calls that ran but are not recorded. */
  const unrecorded = ({ ran, recorded }: LoadResult): string[] => {
    const known = new Set(recorded);
    return ran.filter((call) => !known.has(`${call} allow`));
  };
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  it('answers, runs and records every call', async () => {
    const result = await loadGateway({ calls: CALLS });

    expectNothingDeniedRan(result);
    expect(result.client).to.deep.include({ answered: CALLS, wrong: [] });
    expect(result.ran).to.have.length((CALLS * 3) / 4);
    expect(result.recorded).to.have.length(CALLS);
    expect(result.sequence).to.deep.equal(upTo(CALLS));
    expect(result.closed).to.include({ emitted: CALLS, dropped: 0, failed: 0 });
  });

  for (const victim of ['server', 'client'] as const satisfies Victim[]) {
    it(`runs nothing that is denied and records all that it decided when its ${victim} is killed`, async () => {
      const result = await loadGateway({ ...KILLED, victim });

      expectNothingDeniedRan(result);
      expect(result.ran.length).to.be.above(0);
      expect(unrecorded(result)).to.deep.equal([]);
      expect(result.closed).to.include({ emitted: result.recorded.length, dropped: 0, failed: 0 });
      expect(result.sequence).to.deep.equal(upTo(result.recorded.length));
    });
  }

  it('runs nothing that is denied when it is killed itself, and its next start records all that it decided', async () => {
    const result = await loadGateway({ ...KILLED, victim: 'gateway' });

    expectNothingDeniedRan(result);
    expect(result.ran.length).to.be.above(0);
    expect(unrecorded(result)).to.deep.equal([]);
    const { emitted = 0 } = result.closed ?? {};
    expect(result.closed).to.include({ dropped: 0, failed: 0 });
    expect(result.sequence).to.deep.equal(upTo(emitted));
  });
});
