import { expect } from 'chai';
import { RequestError } from '../../../server/errors.ts';
import { expectedFaultText } from '../../../server/expected-fault.ts';
import { StoreError } from '../../../server/store/store-error.ts';

const system = (code: string, fields: object = {}) =>
  Object.assign(new Error(`${code}: refused`), { code, ...fields });
const engine = new Error('Code: 243. DB::Exception: Cannot reserve 1.00 MiB (NOT_ENOUGH_SPACE)');
/** The driver extracts code and type from the message. */
const parsed = Object.assign(new Error('Cannot reserve 1.00 MiB, not enough space.'), {
  code: '243',
  type: 'NOT_ENOUGH_SPACE',
});

describe('the message of an expected fault', () => {
  const cases: [name: string, error: unknown, text: RegExp][] = [
    ['a port in use', system('EADDRINUSE', { address: '127.0.0.1', port: 8000 }), /8000.*GATE_PORT/],
    ['a foreign address', system('EADDRNOTAVAIL', { address: '203.0.113.5' }), /203\.0\.113\.5.*GATE_HOST/],
    ['an unknown host', system('ENOTFOUND', { hostname: 'nowhere' }), /nowhere.*GATE_HOST/],
    ['a directory that cannot be written to', system('EROFS', { path: '/ro' }), /EROFS.*GATE_DATA_DIR/],
    ['a port that needs privileges', system('EACCES', { port: 80 }), /EACCES.*GATE_PORT/],
    ['a full disk', system('ENOSPC', { path: '/full' }), /disk is full.*GATE_DATA_DIR/],
    [
      'a full disk of the embedded engine',
      new RequestError('store_unavailable', 'No answer', { cause: engine }),
      /disk is full/,
    ],
    [
      'a full disk of the embedded engine, as its driver tells it',
      new StoreError('store_unavailable', 'No answer', parsed),
      /disk is full/,
    ],
    ['a low limit of open files', system('EMFILE'), /ulimit -n/],
    [
      'a low limit of open files, met by the embedded engine',
      new StoreError(
        'store_unavailable',
        'No answer',
        new Error('Cannot open epoll descriptor: , errno: 24, strerror: Too many open files.'),
      ),
      /ulimit -n/,
    ],
    [
      'a low limit of threads, met by the embedded engine',
      new StoreError(
        'store_unavailable',
        'No answer',
        new Error(
          'Cannot schedule a task: failed to start the thread: std::exception. Code: 1001, e.what() = thread constructor failed: Resource temporarily unavailable',
        ),
      ),
      /ulimit -u.*pids/,
    ],
  ];
  for (const [name, error, text] of cases) {
    it(`explains in one line what to do about ${name}`, () => {
      expect(expectedFaultText(error)).to.match(text).and.not.contain('\n');
    });
  }

  it('is undefined for any other error', () => {
    expect([new TypeError('bug'), 'text', undefined].map(expectedFaultText)).to.deep.equal(
      Array(3).fill(undefined),
    );
  });
});
