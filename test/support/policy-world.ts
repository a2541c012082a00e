import { expect } from 'chai';
import { PolicyError, type PolicySource, type ResolveOptions } from '../../client/index.ts';
import { createResolvePolicy } from '../../client/policy/resolve-policy.ts';
import { captureLogger, type CaptureLogger } from './capture-logger.ts';
import { withEnvironment } from './environment.ts';
import { startMockServer, type MockServer } from './mock-server.ts';
import {
  conditionally,
  createSigner,
  policyYaml,
  publishedAgent,
  serveKeys,
  signedRecord,
  type SignedRecord,
  type Signer,
} from './platform.ts';

export const AGENT_ROUTE = 'GET /v1/agents/support-bot';
export const KEYS_ROUTE = 'GET /v1/.well-known/keys';

type Resolve = (
  options?: Partial<ResolveOptions>,
  variables?: Record<string, string>,
) => Promise<PolicySource>;

type Fault = { code: string; status: number | undefined };

export type PolicyWorld = {
  mock: MockServer;
  signer: Signer;
  /** A valid bearer key of project p-1. */
  key: string;
  /** Version 1 allows search; version 2 allows search and write. The service serves version 1. */
  v1: SignedRecord;
  v2: SignedRecord;
  logger: CaptureLogger;
  clock: { nowMs: number };
  /** Resolves support-bot with exactly these variables set; options override them. */
  resolve: Resolve;
  /** The error of a failed resolve. */
  faultOf: (options: Partial<ResolveOptions>, variables?: Record<string, string>) => Promise<Fault>;
  /** The same with the valid key. */
  resolveByKey: (options?: Partial<ResolveOptions>) => Promise<PolicySource>;
  close: () => Promise<void>;
};

/** A separate platform with one agent, and a client that has fetched nothing yet. */
export async function startPolicyWorld(): Promise<PolicyWorld> {
  const [mock, signer] = [await startMockServer(), await createSigner()];
  const key = await signer.bearerKey('p-1');
  const [logger, clock] = [captureLogger(), { nowMs: 0 }];
  const v1 = await signedRecord(publishedAgent(), signer);
  const more = { version: 2, policy_yaml: policyYaml({ allow: ['search', 'write'] }) };
  const v2 = await signedRecord(publishedAgent(more), signer);
  serveKeys(mock, signer);
  mock.on(AGENT_ROUTE, conditionally(v1));
  const resolvePolicy = createResolvePolicy({ now: () => clock.nowMs });
  const defaults = { agentName: 'support-bot', logger };
  const resolve: Resolve = (options = {}, variables = {}) =>
    withEnvironment({ GATE_BASE_URL: mock.url, ...variables }, () =>
      resolvePolicy({ ...defaults, ...options }),
    );
  return {
    mock,
    signer,
    key,
    v1,
    v2,
    logger,
    clock,
    resolve,
    resolveByKey: (options) => resolve({ key, ...options }),
    faultOf: (options, variables) => faultOf(resolve(options, variables)),
    close: () => mock.close(),
  };
}

async function faultOf(resolving: Promise<PolicySource>): Promise<Fault> {
  const fault: unknown = await resolving.then(
    () => expect.fail('it resolved'),
    (error: unknown) => error,
  );
  if (!(fault instanceof PolicyError)) throw fault;
  return { code: fault.code, status: fault.status };
}
