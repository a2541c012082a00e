import { expect } from 'chai';
import { configure, shutdown } from '../../../client/index.ts';
import { createResolvePolicy } from '../../../client/policy/resolve-policy.ts';
import { captureLogger } from '../../support/capture-logger.ts';
import { createSigner } from '../../support/platform.ts';

describe('a plaintext base URL', () => {
  afterEach(() => shutdown({ timeoutMs: 0 }));

  it('that is not loopback causes one warning, from the first part of the client that uses it', async () => {
    const logger = captureLogger();
    const key = await (await createSigner()).bearerKey('p-1');
    // TEST-NET-1 (RFC 5737): nobody answers there.
    const baseUrl = 'http://192.0.2.1:8000';

    configure({ apiKey: 'plaintext', baseUrl, logger });
    configure({ apiKey: 'plaintext 2', baseUrl, logger });
    const resolve = createResolvePolicy({ now: () => 0 });
    await resolve({ agentName: 'a', key, baseUrl, logger, timeoutMs: 1 }).catch(() => undefined);

    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]).to.deep.include({ level: 'warn', context: { base_url: baseUrl } });
  });

  for (const baseUrl of [
    'http://localhost:8000',
    'http://gate.localhost',
    'http://127.0.0.2:1',
    'http://[::1]:8000',
    'https://192.0.2.1',
  ])
    it(`is not warned of at ${baseUrl}`, () => {
      const logger = captureLogger();
      configure({ apiKey: baseUrl, baseUrl, logger });

      expect(logger.lines).to.deep.equal([]);
    });
});
