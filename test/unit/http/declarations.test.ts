import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { expect } from 'chai';
import type { Api } from '../../../server/app.ts';
import type { Endpoint } from '../../../server/http/endpoint.ts';
import { openapiDocument } from '../../../server/openapi/document.ts';
import { DECLARATIONS } from '../../support/declarations.ts';

const { Spectral } = spectralCore;
const document = openapiDocument(DECLARATIONS);

describe('the declarations of the endpoints', () => {
  it('let the compiler know which endpoints there are', () => {
    const declared: keyof Api = 'GET /openapi.json';
    // @ts-expect-error -- nobody declares it
    const undeclared: keyof Api = 'GET /nothing';

    expect(DECLARATIONS.map(({ method, path }) => `${method} ${path}`))
      .to.include(declared)
      .and.not.to.include(undeclared);
  });

  it('have ids and paths of their own', () => {
    const ids = DECLARATIONS.map(({ id }) => id);
    const calls = DECLARATIONS.map(({ method, path }) => `${method} ${path}`);

    expect([new Set(ids).size, new Set(calls).size]).to.deep.equal([ids.length, calls.length]);
  });

  for (const { method, path, params, summary, description } of DECLARATIONS as readonly Endpoint[]) {
    it(`${method} ${path} describes its purpose and its path parameters`, () => {
      const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);

      expect(Object.keys(params ?? {})).to.deep.equal(names);
      expect(summary).to.match(/^[A-Z][^.]+$/);
      expect(description).to.match(/^[A-Z].*\.$/);
    });
  }
});

describe('the OpenAPI document', () => {
  it('has the headers of the ledger for each call that records events, and for decisions that of receipts', () => {
    const ledger = ['Gate-Emitter', 'Gate-Sequence', 'Gate-Dropped'];
    const headersOf = (path: string) => {
      const operation = document.paths[path]?.['post'] as
        { parameters: { in: string; name: string }[] } | undefined;
      return operation?.parameters.filter((one) => one.in === 'header').map(({ name }) => name);
    };

    for (const more of ['', '/batch']) {
      expect(headersOf(`/v1/audit/decisions${more}`)).to.deep.equal([...ledger, 'Gate-Want-Receipt']);
      expect(headersOf(`/v1/audit/llm-invocations${more}`)).to.deep.equal(ledger);
    }
  });

  it("passes Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });

    expect(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    ).to.deep.equal([]);
  });

  it("passes Spectral's rules for OpenAPI", async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [rulesets.oas as RulesetDefinition] });
    const problems = await spectral.run(structuredClone(document));

    expect(problems.map(({ code, message, path }) => [code, message, path.join('/')])).to.deep.equal([]);
  });
});
