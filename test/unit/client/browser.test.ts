import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import * as pure from '../../../client/pure.ts';
import { startBrowser } from '../../support/browser.ts';
import { startMockServer, type MockServer } from '../../support/mock-server.ts';
import { createSigner, policyYaml, publishedAgent, signedRecord } from '../../support/platform.ts';

const ENTRY = fileURLToPath(new URL('../../../client/pure.ts', import.meta.url));

declare const gatehouse: typeof pure;

describe('the pure parts in a browser', () => {
  let mock: MockServer;
  let browser: Browser | undefined;
  let page: Page;

  before(async () => {
    const options = {
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      target: 'es2022',
    } as const;
    const { outputFiles } = await build({ entryPoints: [ENTRY], globalName: 'gatehouse', ...options });
    mock = await startMockServer();
    const html = '<!doctype html><script src="/pure.js"></script>';
    mock.on('GET /', { text: html, headers: { 'Content-Type': 'text/html' } });
    mock.on('GET /pure.js', {
      text: outputFiles[0]?.text ?? '',
      headers: { 'Content-Type': 'text/javascript; charset=utf-8' },
    });
    browser = await startBrowser();
    page = await browser.newPage();
    await page.goto(mock.url);
  });

  after(async () => {
    await browser?.close();
    await mock.close();
  });

  it('redact and truncateArguments return the same as in Node', async () => {
    const value = { password: 'x', list: [{ apiKey: 1 }], text: '😀é"'.repeat(2_000) };

    const inBrowser = await page.evaluate(
      (given) => [gatehouse.redact(given), gatehouse.truncateArguments(given)],
      value,
    );

    expect(inBrowser).to.deep.equal([pure.redact(value), pure.truncateArguments(value)]);
  });

  it('a policy text is parsed and decides', async () => {
    const decisions = await page.evaluate(
      (text) => {
        const parsed = gatehouse.parsePolicy(text);
        if (!parsed.ok) throw new Error('the policy does not parse');
        const engine = gatehouse.createTypescriptEngine(parsed.ir);
        return ['search', 'write', 'transfer', 'launch'].map((tool) => engine.decide({ tool }).outcome);
      },
      policyYaml({ allow: ['search'] }),
    );

    expect(decisions).to.deep.equal(['allow', 'deny', 'needs_approval', 'deny']);
  });

  it('a bundle is verified and decides; a tampered one is refused', async () => {
    const signer = await createSigner();
    const record = await signedRecord(publishedAgent(), signer);
    const { publicKey } = signer;

    const results = await page.evaluate(
      async ({ record, publicKey }) => {
        const verify = (given: object) =>
          gatehouse.verifyBundle({
            record: given as Parameters<typeof gatehouse.verifyBundle>[0]['record'],
            publicKey: gatehouse.parsePublicKey(publicKey),
            agentName: 'support-bot',
          });
        const { module } = await verify(record);
        const engine = gatehouse.createWasmEngine(module);
        const refused = await verify({ ...record, system_md: 'x' }).then(
          () => 'accepted',
          (error: unknown) => (error instanceof gatehouse.PolicyError ? error.code : String(error)),
        );
        return [engine.decide({ tool: 'search' }), engine.decide({ tool: 'write' }).outcome, refused];
      },
      { record, publicKey },
    );

    expect(results).to.deep.equal([
      { outcome: 'allow', reason: '', violations: [], hint: null },
      'deny',
      'record_hash_mismatch',
    ]);
  });
});
