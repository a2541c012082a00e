/** A fresh instance for each test of the suite, closed after the test. It has members only while a test runs. */
export function forEachTest<T extends { close: () => Promise<void> }>(start: () => Promise<T>): T {
  const current = {} as T;
  beforeEach(async () => void Object.assign(current, await start()));
  afterEach(() => current.close());
  return current;
}
