import { randomUUID } from 'node:crypto';
import { call, demoCookie, jsonOf, type Person } from './accounts.ts';
import { issue, type Owner } from './keys.ts';
import { type RunningService, startTestService, type TestService } from './service.ts';

export type SharedService = RunningService & { owner: Owner };

let starting: Promise<{ service: TestService; cookie: string }> | undefined;

/**
 * A new project on a service that all suites of this process share, one after the other. It reads the caller's address from
 * X-Forwarded-For, so that a suite can use up the attempts of a separate address.
 */
export async function sharedService(): Promise<SharedService> {
  starting ??= start();
  const { service, cookie } = await starting;
  const { url, dataDir, pid, output } = service;
  const project = await jsonOf<Person['project']>(
    call(service, '/v1/projects', { cookie, body: { name: randomUUID() } }),
  );
  const owner = { cookie, project };
  const issued = await issue(service, owner);
  const { key } = issued;
  if (key === undefined)
    throw new Error(`The shared service made no project with a key: ${JSON.stringify({ project, issued })}`);
  return { url, dataDir, pid, output, project_id: project.id, key, owner };
}

/** The same for all cases of a suite; its fields are set from the first `before` on. */
export function useSharedService(): SharedService {
  const service = {} as SharedService;
  before('a project on the shared service', async () => void Object.assign(service, await sharedService()));
  return service;
}

async function start(): Promise<{ service: TestService; cookie: string }> {
  const service = await startTestService({ env: { GATE_TRUSTED_PROXIES: '127.0.0.0/8' } });
  return { service, cookie: await demoCookie(service) };
}
