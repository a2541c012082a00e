/** Resources that a test closes at its end, even if it fails, in reverse order. */
export function useCleanups() {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of cleanups.splice(0).toReversed()) await close();
  });
  const closing = <T extends { close: () => unknown }>(server: T): T => {
    cleanups.push(() => server.close());
    return server;
  };
  return { cleanups, closing };
}
