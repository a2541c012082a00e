import { mock } from 'node:test';
import { expect } from 'chai';
import { sharedRead } from '../../../server/dashboard/src/api/shared-read.ts';

const PATH = '/v1/projects/p/keys';
type Read = { signal: AbortSignal; end: (answer: string) => void; fail: (error: Error) => void };

describe('parts of a page that ask for the same', () => {
  let reads: Read[];
  let passedMs: number;
  let passed: ReturnType<typeof mock.method>;
  beforeEach(() => {
    [reads, passedMs] = [[], 0];
    passed = mock.method(performance, 'now', () => passedMs);
  });
  afterEach(() => passed.mock.restore());
  const ask = ({ mustBegin = false, abort = new AbortController() } = {}) =>
    sharedRead(PATH, { signal: abort.signal, mustBegin }, (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      reads.push({ signal, end: resolve, fail: reject });
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      return promise;
    }).catch((error: Error) => error.name);

  it('share one read and its answer or error, and the next begins again', async () => {
    const first = [ask(), ask()];
    reads[0]?.end('keys');
    expect(await Promise.all(first)).to.deep.equal(['keys', 'keys']);
    const second = [ask(), ask()];
    reads[1]?.fail(new TypeError('no'));
    expect(await Promise.all(second)).to.deep.equal(['TypeError', 'TypeError']);
    expect(reads).to.have.length(2);
  });

  for (const [name, askAgain] of [
    ['later than a second', () => ((passedMs += 1000), ask())],
    ['after a change', () => ask({ mustBegin: true })],
  ] as const)
    it(`read again when they ask ${name}, and the newer read is the one to join`, async () => {
      const answers = [ask(), askAgain(), ask()];
      reads[0]?.end('before');
      expect(await answers[0]).to.equal('before');
      answers.push(ask());
      reads[1]?.end('after');
      expect(await Promise.all(answers)).to.deep.equal(['before', 'after', 'after', 'after']);
      expect(reads).to.have.length(2);
    });

  it('end the read when the last of them is gone; a later request reads again', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const answers = [ask({ abort: one }), ask({ abort: other })];
    one.abort();
    expect(reads[0]?.signal.aborted).to.equal(false);
    other.abort();
    expect(reads[0]?.signal.aborted).to.equal(true);
    const next = ask();
    reads[1]?.end('keys');
    expect(await Promise.all([...answers, next])).to.deep.equal(['AbortError', 'AbortError', 'keys']);
  });

  it('do not get the answer when they are gone and another waits for it', async () => {
    const gone = new AbortController();
    const answers = [ask({ abort: gone }), ask()];
    gone.abort();
    reads[0]?.end('keys');
    expect(await Promise.all(answers)).to.deep.equal(['AbortError', 'keys']);
  });
});
