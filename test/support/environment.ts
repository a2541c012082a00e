/** Everything that a process of Node needs. With the cache of compiled code it starts in half the time. */
export const NODE_ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
};

const NAMES = [
  'GATE_API_KEY',
  'GATE_KEY',
  'GATE_LOCAL_MODE',
  'GATE_LOCAL_POLICY',
  'GATE_PUBLIC_KEY',
  'GATE_BUNDLE_REQUIRE_SIGNATURE',
  'GATE_BASE_URL',
  'GATE_STATE_DIR',
];

/** Runs with exactly these variables of the client set, and restores the previous ones. */
export async function withEnvironment<T>(
  variables: Record<string, string>,
  run: () => T | Promise<T>,
): Promise<T> {
  const before = new Map(NAMES.map((name) => [name, process.env[name]]));
  for (const name of NAMES) setVariable(name, variables[name]);
  try {
    return await run();
  } finally {
    for (const [name, value] of before) setVariable(name, value);
  }
}

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
