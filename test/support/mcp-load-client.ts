// Calls the tools of an MCP server, every fourth one denied: mcp-load-client.ts COUNT AT_ONCE COMMAND [ARGUMENT…]
// Prints the process id of the server, then how many calls were answered, and in the end the milliseconds that they took.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const REPORT_EVERY = 50;

const [count = '', atOnce = '', command = '', ...args] = process.argv.slice(2);
const env = Object.fromEntries(Object.entries(process.env).map(([name, value = '']) => [name, value]));
const transport = new StdioClientTransport({ command, args, env, stderr: 'inherit' });
const client = new Client({ name: 'load', version: '1.0.0' });
await client.connect(transport);
await client.listTools();
report({ pid: transport.pid });

const times: number[] = [];
const wrong: string[] = [];
let next = 0;

async function callOneAfterTheOther(): Promise<void> {
  while (next < Number(count)) {
    const n = next++;
    const name = n % 4 === 3 ? 'write' : 'search';
    const startedAt = performance.now();
    const { content } = await client.callTool({ name, arguments: { n } });
    times.push(performance.now() - startedAt);
    const text = (content as { text: string }[])[0]?.text ?? '';
    if (text !== `${name} ${n}` && !(name === 'write' && text.startsWith('write is denied')))
      wrong.push(text);
    if (times.length % REPORT_EVERY === 0) report({ answered: times.length });
  }
}

const problem = await Promise.all(Array.from({ length: Number(atOnce) }, callOneAfterTheOther)).then(
  () => undefined,
  (error: unknown) => String(error),
);
await client.close();
const sorted = times.toSorted((a, b) => a - b);
const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
report({ answered: times.length, wrong, problem, p50: at(0.5), p99: at(0.99) });
process.exit();

function report(values: object): void {
  process.stdout.write(`${JSON.stringify(values)}\n`);
}
