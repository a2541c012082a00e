import { expect } from 'chai';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GrowingFilter } from '../../../server/commit/bloom-filter.ts';
import { FILTER_SIZES, IdentityFilter } from '../../../server/commit/identity-filter.ts';
import type { Stream } from '../../../server/commit/identity.ts';
import { SavedFilters } from '../../../server/commit/saved-filters.ts';
import { createLogger } from '../../../server/logger.ts';
import { connectEmbedded } from '../../../server/store/connection.ts';
import { Handover } from '../../../server/store/handover.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDirectory } from '../../support/service.ts';
import { HOUR_MS } from '../../../server/durations.ts';

const STARTED_MS = Date.UTC(2026, 0, 31);
const PROJECT = 'p-1';
const NEVER = new AbortController().signal;
const NOTHING = { decisions: undefined, llm_invocations: undefined };

describe('filters of identities that are saved while the service runs', () => {
  const connection = connectEmbedded(temporaryDirectory(), {});
  const handovers: Handover[] = [];
  before(async () => {
    await connection.command('CREATE TABLE event_identities (id UInt8) ENGINE = MergeTree ORDER BY id');
    await connection.command('INSERT INTO event_identities VALUES (1)');
  });
  afterEach(() => Promise.all(handovers.splice(0).map((handover) => handover.close())));
  after(() => connection.close());

  const completeFilter = () =>
    new IdentityFilter({ filter: new GrowingFilter(FILTER_SIZES), filledAtMs: STARTED_MS - 2 * HOUR_MS });

  /** A service whose filters are complete, and the time of its clock. */
  function start(dataDir = temporaryDirectory()) {
    const clock = { nowMs: STARTED_MS };
    const handover = new Handover(dataDir);
    handovers.push(handover);
    const logger = createLogger('silent');
    const saved = new SavedFilters({ handover, connection, logger, now: () => clock.nowMs });
    const filters = { decisions: completeFilter(), llm_invocations: completeFilter() };
    const savedAtMs = (stream: Stream) => {
      const path = join(dataDir, `handover-identities-${stream}.behind`);
      if (!existsSync(path)) return undefined;
      return Number(/"saved_at_ms":(\d+)/.exec(readFileSync(path, 'latin1'))?.[1]);
    };
    return { dataDir, handover, clock, saved, filters, savedAtMs };
  }

  it('are not saved when others begin to write to the store during a save', async () => {
    const { saved, filters, savedAtMs } = start();
    saved.keep(
      () => filters,
      () => Promise.resolve(filters.decisions.forget(PROJECT)),
    );

    // The second of the two: the save is about to end.
    await eventually(() => savedAtMs('llm_invocations'));
    await saved.saveLast(NOTHING);

    expect(savedAtMs('decisions')).to.equal(undefined);
  });

  it('are saved again with the time of a clock that was set back', async () => {
    const { clock, saved, filters, savedAtMs } = start();
    saved.keep(
      () => filters,
      () => Promise.resolve(),
    );

    const first = await eventually(() => savedAtMs('decisions'));
    clock.nowMs -= HOUR_MS;
    await eventually(() => savedAtMs('decisions') === clock.nowMs);
    await saved.saveLast(NOTHING);

    expect(first).to.equal(STARTED_MS);
  });

  it('are not saved again by the next process until they have grown', async () => {
    const { dataDir, saved, filters } = start();
    await saved.saveLast(filters);
    const next = start(dataDir);
    next.clock.nowMs += HOUR_MS;
    await next.handover.open();
    const taken = await next.saved.take('decisions');
    const decisions = await taken?.read(NEVER);
    next.saved.keep(
      () => ({ decisions, llm_invocations: next.filters.llm_invocations }),
      () => Promise.resolve(),
    );

    // The other stream was not taken: it is saved after the one that was taken.
    await eventually(() => next.savedAtMs('llm_invocations') === next.clock.nowMs);
    const untouched = next.savedAtMs('decisions');
    for (let key = 0; key < 250_000; key += 1) decisions?.filter.add(key, [key, key, key, key]);
    await eventually(() => next.savedAtMs('decisions') === next.clock.nowMs);
    await next.saved.saveLast(NOTHING);

    expect([untouched, decisions?.isComplete]).to.deep.equal([STARTED_MS, true]);
  });

  it('stay for the process after the next when a stop aborts the reading', async () => {
    const { dataDir, saved, filters } = start();
    await saved.saveLast(filters);
    const stopped = start(dataDir);
    await stopped.handover.open();
    const taken = await stopped.saved.take('decisions');
    expect(await taken?.read(AbortSignal.abort())).to.equal(undefined);
    const next = start(dataDir);
    await next.handover.open();
    const takenAgain = await next.saved.take('decisions');
    const filter = await takenAgain?.read(NEVER);

    expect([taken?.lacks, filter?.isComplete]).to.deep.equal([undefined, false]);
    expect(takenAgain?.lacks).to.deep.equal({ afterMs: STARTED_MS, afterBlock: 1 });
  });

  it('are removed when they are damaged', async () => {
    const { dataDir, saved, filters } = start();
    await saved.saveLast(filters);
    const path = join(dataDir, 'handover-identities-decisions');
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    writeFileSync(path, bytes);
    const next = start(dataDir);
    await next.handover.open();
    const taken = await next.saved.take('decisions');

    expect(next.savedAtMs('decisions')).to.equal(STARTED_MS);
    expect(await taken?.read(NEVER)).to.equal(undefined);
    expect(next.savedAtMs('decisions')).to.equal(undefined);
  });
});
