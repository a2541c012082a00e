import { createResolvePolicy } from '../../../client/policy/resolve-policy.ts';
import type { Gates } from '../../../client/audit/gates.ts';
import { captureLogger, type CaptureLogger } from '../../support/capture-logger.ts';
import { gatesWith } from '../../support/emission.ts';
import { startMockServer, type MockServer, type Reply, type SeenRequest } from '../../support/mock-server.ts';
import {
  conditionally,
  createSigner,
  policyYaml,
  publishedAgent,
  resigned,
  serveKeys,
  signedRecord,
  yamlRecord,
  etagOf,
  type Signer,
} from '../../support/platform.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import type { AgentReply, Case, CaseReply } from './case.ts';

/** The environment of one case: a new client and its own mock service. */
export type CaseWorld = {
  mock: MockServer;
  logger: CaptureLogger;
  gates: Gates;
  resolvePolicy: ReturnType<typeof createResolvePolicy>;
  names: Record<string, string>;
  publish(service: Case['service']): Promise<void>;
};

export async function createWorld({ service }: Case): Promise<CaseWorld> {
  const mock = await startMockServer();
  const [platform, stranger] = [await createSigner(), await createSigner()];
  serveKeys(mock, platform);
  const key = await platform.bearerKey('p-1');
  const otherKey = await platform.bearerKey('p-2');
  const names: Record<string, string> = {
    url: mock.url,
    key,
    // The claims of one key with the signature of another.
    forged_key: key.replace(/[^.]+$/, otherKey.split('.')[2] ?? ''),
    bad_key: await stranger.bearerKey('p-1'),
    public_key: platform.publicKey,
    policy_file: await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] })),
  };
  const replyFrom = async (reply: CaseReply): Promise<Reply | ((request: SeenRequest) => Reply)> => {
    if (!('agent' in reply)) return reply;
    const record = await recordFrom(reply.agent, { platform, stranger });
    names.etag ??= etagOf(record);
    return conditionally(record);
  };
  const world: CaseWorld = {
    mock,
    logger: captureLogger(),
    gates: gatesWith(),
    resolvePolicy: createResolvePolicy({ now: Date.now }),
    names,
    publish: async (routes) => {
      for (const [route, replies] of Object.entries(routes ?? {})) {
        mock.on(route, ...(await Promise.all(replies.map(replyFrom))));
      }
    },
  };
  await world.publish(service);
  return world;
}

type Signers = { platform: Signer; stranger: Signer };

async function recordFrom(reply: AgentReply, signers: Signers): Promise<Record<string, unknown>> {
  const { version, allow, bundle = 'signed', sign_with = 'platform', tamper = {}, manifest } = reply;
  const agent = publishedAgent({ version, policy_yaml: policyYaml({ allow }) });
  if (bundle === 'absent') return { ...yamlRecord(agent), ...tamper };
  const signer = signers[sign_with];
  const signed = await signedRecord(agent, signer);
  return { ...(manifest ? await resigned(signed, manifest, signer) : signed), ...tamper };
}
