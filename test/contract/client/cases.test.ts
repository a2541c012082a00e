import { expect } from 'chai';
import {
  PolicyError,
  redact,
  truncateArguments,
  type Gate,
  type PolicySource,
} from '../../../client/index.ts';
import type { CaptureLogger } from '../../support/capture-logger.ts';
import { withEnvironment } from '../../support/environment.ts';
import type { MockServer } from '../../support/mock-server.ts';
import { readCases, type Case, type Expectation, type Step } from './case.ts';
import { createWorld, type CaseWorld } from './case-world.ts';

/** The subject of a log line, by this client's wording. */
const ABOUT: Record<string, RegExp> = {
  local_mode: /^Local mode/,
  drop: /^Audit event dropped/,
  unreachable: /unreachable/,
  unavailable: /still unavailable .* after one retry/,
  ingest_error: /^Audit ingest error/,
  rejected: /^Audit ingest rejected events/,
  no_batches: /takes no batches/,
  refresh: /^Policy refresh failed/,
  tools_absent: /^Tools absent/,
  unsigned: /is not signed/,
};

type StepResult = Record<string, unknown>;

type Held = { gate?: Gate; source?: PolicySource };

for (const [file, cases] of readCases()) {
  describe(`contract: ${file}`, () => {
    for (const one of cases) it(one.name, () => runCase(one));
  });
}

async function runCase(one: Case): Promise<void> {
  const world = await createWorld(one);
  const filled = filledIn(one, world.names);
  const held: Held = {};
  try {
    await withEnvironment({ GATE_BASE_URL: world.mock.url, ...filled.env }, async () => {
      for (const step of filled.steps) await runStep(step, world, held);
    });
    checkRequests(world.mock, filledIn(one, world.names).expect);
    checkLogs(world.logger, one.expect);
    if (one.expect?.stats) expect(held.gate?.stats()).to.deep.equal(one.expect.stats);
  } finally {
    await world.gates.shutdown({ timeoutMs: 0 });
    await world.mock.close();
  }
}

async function runStep(step: Step, world: CaseWorld, held: Held): Promise<void> {
  const { gates, logger } = world;
  if ('configure' in step) held.gate = gates.configure({ logger, ...step.configure });
  else if ('emit' in step) repeat(step.times, () => held.gate?.emit(step.emit));
  else if ('emit_llm' in step) repeat(step.times, () => held.gate?.emitLlm(step.emit_llm));
  else if ('flush' in step) await gates.flush();
  else if ('shutdown' in step) await gates.shutdown();
  else if ('publish' in step) await world.publish(step.publish);
  else if ('redact' in step) checkRedaction(step);
  else if ('truncate' in step) checkTruncation(step);
  else if ('resolve' in step) await resolveStep(step, world, held);
  else await policyStep(step, sourceOf(held));
}

type ResolveStep = Extract<Step, { resolve: object }>;

async function resolveStep(step: ResolveStep, world: CaseWorld, held: Held): Promise<void> {
  const { error, status, origin } = step;
  try {
    held.source = await world.resolvePolicy({ logger: world.logger, ...step.resolve });
  } catch (fault) {
    if (!(fault instanceof PolicyError)) throw fault;
    expect({ error: fault.code, status: fault.status }).to.deep.equal({ error, status });
    return;
  }
  expect(error, 'it resolved').to.equal(undefined);
  if (origin !== undefined) expect(held.source.origin).to.equal(origin);
}

type PolicyStep = Extract<Step, { refresh: object } | { refresh_at_once: number } | { decide: object }>;

async function policyStep(step: PolicyStep, source: PolicySource): Promise<void> {
  if ('decide' in step) {
    expect(source.policy.decide(step.decide).outcome).to.equal(step.outcome);
    return;
  }
  if ('refresh_at_once' in step) {
    await Promise.all(Array.from({ length: step.refresh_at_once }, () => source.refresh()));
    return;
  }
  const { policy } = source;
  for (let i = 0; i < (step.times ?? 1); i += 1) await source.refresh();
  expect(source.policy !== policy, 'swapped').to.equal(step.swapped);
}

function checkRedaction(step: Extract<Step, { redact: unknown }>): void {
  expect(redact(step.redact)).to.deep.equal(step.result);
  expect(redact(step.result)).to.deep.equal(step.result);
}

function checkTruncation(step: Extract<Step, { truncate: object }>): void {
  const { truncate, bytes, truncated, original_bytes } = step;
  const result = truncateArguments({ text: truncate.repeat.repeat(truncate.times) }) as StepResult;

  expect(Buffer.byteLength(JSON.stringify(result))).to.equal(bytes);
  expect(result._truncated).to.equal(truncated ? true : undefined);
  expect(result.original_bytes).to.equal(original_bytes);
}

function checkRequests(mock: MockServer, wanted: Expectation | undefined): void {
  for (const [route, requests] of Object.entries(wanted?.requests ?? {})) {
    const seen = mock.seen(route);
    expect(seen, route).to.have.length(typeof requests === 'number' ? requests : requests.length);
    if (typeof requests === 'number') continue;
    for (const [index, { headers = {}, json, ndjson }] of requests.entries()) {
      expect(seen[index]?.headers).to.include(headers);
      if (json) expect(JSON.parse(seen[index]?.text ?? '')).to.deep.include(json);
      if (ndjson) checkLines(seen[index]?.text ?? '', ndjson);
    }
  }
}

function checkLines(text: string, wanted: Record<string, unknown>[]): void {
  const lines = text.split('\n').filter((line) => line !== '');
  expect(lines).to.have.length(wanted.length);
  for (const [index, line] of lines.entries()) expect(JSON.parse(line)).to.deep.include(wanted[index]);
}

function checkLogs(logger: CaptureLogger, wanted: Expectation | undefined): void {
  if (!wanted?.logs) return;
  const lines = logger.lines.map(({ level, message }) => {
    const about = Object.keys(ABOUT).find((word) => ABOUT[word]?.test(message)) ?? message;
    return `${level} ${about}`;
  });
  const all = wanted.logs.flatMap(({ level, about, times = 1 }) =>
    Array<string>(times).fill(`${level} ${about}`),
  );
  expect(lines.toSorted()).to.deep.equal(all.toSorted());
}

function repeat(times = 1, run: () => void): void {
  for (let i = 0; i < times; i += 1) run();
}

function sourceOf({ source }: Held): PolicySource {
  return source ?? expect.fail('nothing is resolved yet');
}

/** Replaces names such as ${url} by the runner's texts. */
function filledIn(one: Case, names: Record<string, string>): Case {
  const text = JSON.stringify(one).replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => {
    const value = names[name];
    return value === undefined ? whole : JSON.stringify(value).slice(1, -1);
  });
  return JSON.parse(text) as Case;
}
