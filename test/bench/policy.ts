// Compiles and decides with a small and a big policy: `node test/bench/policy.ts`.
import { createWasmEngine } from '../../client/policy/wasm-engine.ts';
import { createTypescriptEngine, parsePolicy, type PolicyIr } from '../../client/policy/language/index.ts';
import { WasmPolicy } from '../../client/policy/wasm-policy.ts';
import { compileModule } from '../../client/policy/wasm-policy.ts';
import { compilePolicy } from '../../server/policy/compile-policy.ts';
import { loadRuntime } from '../../server/policy/load-runtime.ts';

const RECORD_HASH = '0'.repeat(64);
const ROUNDS = 7;

type Scale = 'small' | 'big';
type PolicyFigure = { what: string; small: string; big: string; bar: string };

/** 4 tools and 3 rules. */
const SMALL = `version: 1
agent: support-bot
tools: [search, read_file, write_file, transfer]
roles:
  admin: {allow: ["*"]}
  editor: {allow: [search, read_file, write_file], approve: [transfer]}
  "*": {allow: [search]}
rules:
  - id: transfer-limit
    tools: [transfer]
    roles: [editor]
    require: {arg: amount, gt: 0, lte: 1000}
    effect: needs_approval
    reason: Transfers above 1000 need approval.
    hint: {max: 1000}
  - id: system-paths
    tools: [write_file]
    when: {any: [{arg: path, starts_with: /etc/}, {arg: path, like: "*/.ssh/*"}]}
    effect: deny
    reason: System paths are closed.
  - id: no-secrets
    when: {arg: query, contains: [password, secret], ignore_case: true}
    effect: deny
    reason: Secrets are not searched for.
`;

/** 100 tools, 20 roles, 100 rules with four conditions each, all of which look at every call. */
export function bigPolicy(): string {
  const names = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, i) => `${prefix}${i}`);
  const roles = names('role-', 20).map((role) => `  ${role}: {allow: ["*"]}`);
  const rules = names('', 100).map(
    (index) => `  - id: rule-${index}
    when:
      all:
        - {arg: amount, gt: ${index}}
        - {arg: path, starts_with: [/etc/, /var/${index}/]}
        - any: [{arg: note, contains: secret-${index}}, {arg: to.country, in: [AA, BB, C${index}]}]
    effect: deny
    reason: Rule ${index} says no.`,
  );
  return [
    `version: 1`,
    `tools: [${names('tool_', 100).join(', ')}]`,
    'roles:',
    ...roles,
    'rules:',
    ...rules,
    '',
  ].join('\n');
}

const POLICIES: Record<Scale, { text: string; call: object; rounds: number }> = {
  small: {
    text: SMALL,
    call: { tool: 'transfer', role: 'editor', arguments: { amount: 250, to: 'DE02', note: 'rent for May' } },
    rounds: 20_000,
  },
  big: {
    text: bigPolicy(),
    call: {
      tool: 'tool_42',
      role: 'role-7',
      arguments: {
        amount: 250,
        path: '/etc/hosts',
        note: 'rent for May',
        to: { country: 'DE', name: 'Ada' },
      },
    },
    rounds: 5_000,
  },
};

/** Prints every figure next to the one in docs/decisions/0016-fixed-policy-runtime.md. */
export function benchPolicy(): void {
  console.table(policyFigures());
}

/** The module compared with the TypeScript engine. */
function policyFigures(): PolicyFigure[] {
  const small = measure('small');
  const big = measure('big');
  return BARS.map(([what, bar]) => ({ what, small: small.get(what) ?? '', big: big.get(what) ?? '', bar }));
}

const BARS = [
  ['YAML to checked form', '-'],
  ['checked form to module', '0.3 / 4.3 ms'],
  ['size of the module', '12 / 65 KB'],
  ['module: evaluate, bytes in and out', '1.4 / 7.4 µs'],
  ['module: decide(call), with JSON both ways', '3.4 / 10.2 µs'],
  ['TypeScript: decideText', '-'],
  ['TypeScript: decide(call)', '-'],
] as const;

function measure(scale: Scale): Map<string, string> {
  const { text, call, rounds } = POLICIES[scale];
  const ir = parsed(text);
  const runtime = loadRuntime();
  const compile = (): Uint8Array => moduleOf(ir, runtime);
  const module = compile();
  const bytes = new TextEncoder().encode(JSON.stringify(call));
  const instance = new WasmPolicy(compileModule(module));
  const wasm = createWasmEngine(module);
  const typescript = createTypescriptEngine(ir);
  const typed = call as { tool: string };
  const compileRounds = rounds / 100;
  return new Map([
    ['YAML to checked form', milliseconds(best(() => parsePolicy(text), compileRounds))],
    ['checked form to module', milliseconds(best(compile, compileRounds))],
    ['size of the module', `${(module.length / 1000).toFixed(1)} KB`],
    ['module: evaluate, bytes in and out', microseconds(best(() => instance.evaluateBytes(bytes), rounds))],
    ['module: decide(call), with JSON both ways', microseconds(best(() => wasm.decide(typed), rounds))],
    ['TypeScript: decideText', microseconds(best(() => typescript.decideText(bytes), rounds / 5))],
    ['TypeScript: decide(call)', microseconds(best(() => typescript.decide(typed), rounds / 5))],
  ]);
}

function parsed(text: string): PolicyIr {
  const policy = parsePolicy(text);
  if (!policy.ok) throw new Error(JSON.stringify(policy.errors));
  return policy.ir;
}

function moduleOf(ir: PolicyIr, runtime: Uint8Array): Uint8Array {
  const { module } = compilePolicy({ ir, runtime, recordHash: RECORD_HASH });
  if (module === null) throw new Error('The policy of the bench is too large for a module');
  return module;
}

/** The best of a few rounds, in milliseconds for one run: the time of the code without disturbance. */
function best(run: () => unknown, times: number): number {
  let fastest = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    for (let index = 0; index < times; index += 1) run();
    fastest = Math.min(fastest, (performance.now() - start) / times);
  }
  return fastest;
}

function milliseconds(value: number): string {
  return `${value.toFixed(2)} ms`;
}

function microseconds(value: number): string {
  return `${(value * 1000).toFixed(2)} µs`;
}

if (import.meta.main) benchPolicy();
