import { expect } from 'chai';
import { agentPath, decisionPath, pageFrom, projectPath } from '../../../server/dashboard/src/app/route.ts';
import { nextPlace } from '../../../server/dashboard/src/pages/account/next-place.ts';

describe('the pages of the dashboard', () => {
  it('are found by their paths', () => {
    expect(pageFrom('/')).to.deep.equal({ name: 'home' });
    expect(pageFrom('/sign-in')).to.deep.equal({ name: 'sign-in' });
    expect(pageFrom('/verify-email/abc-123')).to.deep.equal({ name: 'verify-email', token: 'abc-123' });
    expect(pageFrom('/reset-password/x')).to.deep.equal({ name: 'reset-password', token: 'x' });
    expect(pageFrom('/projects/p')).to.deep.equal({ name: 'overview', projectId: 'p' });
    expect(pageFrom('/projects/p/decisions/')).to.deep.equal({ name: 'decisions', projectId: 'p' });
    expect(pageFrom('/projects/p/usage/calls')).to.deep.equal({ name: 'model-calls', projectId: 'p' });
    expect(pageFrom('/projects/p/decisions/e')).to.deep.equal({
      name: 'decision',
      projectId: 'p',
      eventId: 'e',
    });
  });

  const SERVICE = ['/v1', '/v1/projects/p/agents', '/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/docs/x']; // prettier-ignore
  for (const path of SERVICE) {
    it(`are not at ${path}`, () => expect(pageFrom(path)).to.equal(undefined));
  }

  const UNKNOWN = [
    '/overview', '/projects', '/projects/p/x', '/projects//overview', '/verify-email', '/%zz', '/projects/p/keys/k', '/projects/p/usage/x', '/a/b/c/d/e',
  ]; // prettier-ignore
  for (const path of UNKNOWN) {
    it(`are not invented for ${path}`, () => expect(pageFrom(path)).to.equal(undefined));
  }

  it('keep any agent name intact', () => {
    for (const agentName of ['support bot', '100% ?#&', 'ünï 💡', '<img>', '...']) {
      expect(pageFrom(agentPath('p', agentName))).to.deep.equal({ name: 'agent', projectId: 'p', agentName });
    }
    for (const agentName of ['.', '..']) {
      const { pathname, search } = new URL(agentPath('p', agentName), 'http://localhost');
      expect(pageFrom(pathname)).to.deep.equal({ name: 'decisions', projectId: 'p' });
      expect(new URLSearchParams(search).get('agent')).to.equal(agentName);
    }
    expect(projectPath('a/b', 'keys')).to.equal('/projects/a%2Fb/keys');
    expect(pageFrom(decisionPath('p', 'a/b'))).to.include({ name: 'decision', eventId: 'a/b' });
  });
});

describe('where a sign-in leads', () => {
  it('is the page that was asked for', () => {
    const place = '/projects/p/decisions?outcome=deny&role=';
    expect(nextPlace(place)).to.equal(place);
    expect(nextPlace(null)).to.equal('/');
  });

  const REFUSED = [
    'https://example.org', '//example.org', '/\\example.org', 'javascript:alert(1)', '/v1/auth/logout', '/docs', '',
  ]; // prettier-ignore
  for (const given of REFUSED) {
    it(`is the start page, not ${JSON.stringify(given)}`, () => expect(nextPlace(given)).to.equal('/'));
  }
});
