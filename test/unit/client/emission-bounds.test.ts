import { expect } from 'chai';
import type { DecisionInput } from '../../../client/index.ts';
import {
  DECISIONS,
  USAGE,
  bodiesOf,
  decision,
  openGate,
  startAuditServer,
  usage,
} from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('client emission rules', () => {
  const mock = forEachTest(startAuditServer);

  describe('at most 32 POSTs are in flight per sender', () => {
    it('the 33rd event is dropped and counted; another path and another key have their own 32', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      mock.on(USAGE, { fault: 'hang' });
      const { gates, logger, gate } = openGate(mock);
      const other = gates.configure({ apiKey: 'k2', baseUrl: mock.url, logger });
      for (let i = 0; i < 33; i += 1) gate.emit(decision());
      for (let i = 0; i < 34; i += 1) gate.emitLlm(usage);
      other.emit(decision());
      await mock.arrived(DECISIONS, 33);
      await mock.arrived(USAGE, 32);

      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 3, in_flight: 64 });
      expect(other.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 1 });
      expect(logger.at('warn')[0]).to.include('32 are in flight already. Set batch to record more');
      await gates.shutdown({ timeoutMs: 1 });
    });

    it('reads nothing of a dropped event', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      const { gates, gate } = openGate(mock);
      for (let i = 0; i < 32; i += 1) gate.emit(decision());
      let reads = 0;
      gate.emit(new Proxy(decision(), { get: () => (reads += 1) }));

      expect(reads).to.equal(0);
      await gates.shutdown({ timeoutMs: 1 });
    });

    it('frees a slot when its event is settled', async () => {
      const { gates, gate } = openGate(mock);
      for (let round = 0; round < 3; round += 1) {
        for (let i = 0; i < 32; i += 1) gate.emit(decision());
        await gates.flush();
      }

      expect(gate.stats()).to.deep.equal({ sent: 96, failed: 0, dropped: 0, in_flight: 0 });
      expect(mock.connections()).to.be.at.most(32);
      await gates.shutdown();
    });
  });

  describe('at most 10,000 values of an event are read', () => {
    type Body = Record<'arguments' | 'hint', { _truncated?: true; preview: string }> & { user_id: string };

    /** A list that counts how many of its items are read. */
    const counted = (length: number, reads: { count: number }): unknown[] =>
      new Proxy(Array.from({ length }), {
        get: (list, key) => {
          if (typeof key === 'string' && key !== 'length') reads.count += 1;
          return key === 'toJSON' ? undefined : (Reflect.get(list, key) as unknown);
        },
      });

    async function bodyOf(more: Partial<DecisionInput>): Promise<Body> {
      const { gates, gate } = openGate(mock);
      gate.emit(decision(more));
      await gates.flush();
      await gates.shutdown();
      return bodiesOf(mock, DECISIONS)[0] as Body;
    }

    it('the rest is cut and marked as truncated, in arguments and hint together', async () => {
      const reads = { count: 0 };
      const hint = { list: counted(6_000, reads) };
      const body = await bodyOf({ hint, arguments: { list: counted(100_000, reads) }, user_id: 'u-1' });

      expect(reads.count).to.be.within(9_900, 10_000);
      expect(body.hint).to.not.have.property('_truncated');
      expect(body.arguments._truncated).to.equal(true);
      expect(Buffer.byteLength(JSON.stringify(body.arguments))).to.be.at.most(8_192);
      expect(body.user_id).to.equal('u-1');
    });

    it('marks values that JSON omits, too, and a hint within its 4,096 bytes', async () => {
      const nothing = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`key ${i}`, undefined]));
      const body = await bodyOf({ hint: { list: [nothing, 'x'.repeat(9_000)] }, arguments: { rest: 1 } });

      expect(body.hint._truncated).to.equal(true);
      expect(Buffer.byteLength(JSON.stringify(body.hint))).to.be.at.most(4_096);
      expect(body.arguments).to.deep.include({ _truncated: true, preview: '{"value":"[Cut]"}' });
    });

    it('reads no typed array with more elements', async () => {
      const body = await bodyOf({ arguments: { small: new Uint8Array(2), large: new Uint8Array(10_001) } });

      expect(body.arguments).to.deep.include({
        _truncated: true,
        preview: '{"small":{"0":0,"1":0},"large":"[Binary, 10001 bytes]"}',
      });
    });

    it('leaves arguments with fewer values as they are', async () => {
      const args = { list: Array.from({ length: 4_000 }, () => 1) };

      expect((await bodyOf({ arguments: args })).arguments).to.deep.equal(args);
    });
  });

  describe('with no running event loop, emission does nothing', () => {
    const createLoop = () => ({ identity: () => 'one', isRunning: () => false });
    for (const batch of [false, true])
      it(`and logs a one-time warning, batch: ${batch}`, async () => {
        const { gates, logger, gate } = openGate(mock, { batch }, { createLoop });
        gate.emit(decision());
        gate.emit(decision());
        await gates.shutdown();

        expect(mock.requests).to.have.length(0);
        expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 0 });
        expect(logger.at('warn')).to.have.length(1);
      });
  });

  describe('when the running event loop changes', () => {
    it('makes new connections and a new limit of sends in flight', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      let identity = 'one';
      const createLoop = () => ({ identity: () => identity, isRunning: () => true });
      const { gates, gate } = openGate(mock, {}, { createLoop });
      for (let i = 0; i < 33; i += 1) gate.emit(decision());
      await mock.arrived(DECISIONS, 32);
      expect(gate.stats()).to.include({ dropped: 1, in_flight: 32 });
      identity = 'two';
      for (let i = 0; i < 33; i += 1) gate.emit(decision());
      await mock.arrived(DECISIONS, 64);

      expect(gate.stats()).to.include({ dropped: 2, in_flight: 32 });
      expect(mock.connections()).to.equal(64);
      await gates.shutdown({ timeoutMs: 1 });
    });
  });
});
