// Runs mocha on a ClickHouse server instead of the embedded engine: on the one that GATE_TEST_CLICKHOUSE_URL names, or
// on a test server started here. node run-tests.ts <mocha arguments>
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startClickHouse } from './start.ts';

const given = process.env['GATE_TEST_CLICKHOUSE_URL'];
const server = given === undefined ? await startClickHouse() : undefined;
const url = given ?? new URL(server?.url ?? '').href.replace(/\/gatehouse$/, '');
const mocha = new URL('../../../node_modules/mocha/bin/mocha.js', import.meta.url).pathname;
// The rest comes from package.json, as for every other run.
const settings = ['--parallel', '--jobs', '2', '--ignore', '**/*.alone.test.ts'];
const child = spawn(process.execPath, [mocha, ...settings, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, GATE_TEST_CLICKHOUSE_URL: url },
});
const [code] = (await once(child, 'exit')) as [number | null];
await server?.kill();
process.exit(code ?? 1);
