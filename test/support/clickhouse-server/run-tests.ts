// Runs suites on a ClickHouse server instead of the embedded engine: on the one that GATE_TEST_CLICKHOUSE_URL names, or on a test server
// started here. node run-tests.ts [mocha arguments]; without any, the suites below.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startClickHouse } from './start.ts';

/**
 * The suites whose outcome depends on the connection: types, encodings and sizes of values in parameters and rows, sums
 * beyond 2^53, duplicates and streamed answers. test/contract/store.test.ts refuses rows over the wire, and runs every statement
 * with optional conditions. Faults of a server have suites of their own (test/e2e/faults.test.ts), which start one.
 */
const SUITES = [
  'accounts-activity',
  'agents-@(register|save)',
  'ingest-@(decisions|identity|json|llm)',
  'keys-of-project',
  'read-@(decisions|summary)',
  'reads-@(cursor|export|llm-invocations|llm-usage|timeseries)',
];

const given = process.env['GATE_TEST_CLICKHOUSE_URL'];
const server = given === undefined ? await startClickHouse({ isEmpty: true }) : undefined;
const url = given ?? new URL(server?.url ?? '').href.replace(/\/gatehouse$/, '');
const mocha = fileURLToPath(new URL('../../../node_modules/mocha/bin/mocha.js', import.meta.url));
const more = process.argv.slice(2);
const suites = more.length > 0 ? more : SUITES.map((name) => `test/http/${name}.test.ts`);
const child = spawn(process.execPath, [mocha, ...suites], {
  stdio: 'inherit',
  env: { ...process.env, GATE_TEST_CLICKHOUSE_URL: url },
});
const [code] = (await once(child, 'exit')) as [number | null];
await server?.kill();
process.exit(code ?? 1);
