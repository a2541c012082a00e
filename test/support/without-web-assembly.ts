/** Runs as in a runtime without WebAssembly. */
export function withoutWebAssembly<T>(run: () => T): T {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'WebAssembly') ?? {};
  Reflect.deleteProperty(globalThis, 'WebAssembly');
  const restore = (): void => void Object.defineProperty(globalThis, 'WebAssembly', descriptor);
  let result: T;
  try {
    result = run();
  } catch (error) {
    restore();
    throw error;
  }
  if (result instanceof Promise) return result.finally(restore) as T;
  restore();
  return result;
}
