import { createHash } from 'node:crypto';
import {
  createTypescriptEngine,
  parsePolicy,
  type PolicyEngine,
  type PolicyIr,
} from '../../../../client/policy/language/index.ts';
import { createWasmEngine } from '../../../../client/policy/wasm-engine.ts';
import { compilePolicy } from '../../../../server/policy/compile-policy.ts';
import { loadRuntime } from '../../../../server/policy/load-runtime.ts';

export const RECORD_HASH = '0123456789abcdef'.repeat(4);

export type Engines = { typescript: PolicyEngine; wasm: PolicyEngine };

export function irOf(text: string): PolicyIr {
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw new Error(`${errorLines(text).join('\n')}\n${text}`);
  return parsed.ir;
}

/** One line for each error, as golden files hold them. */
export function errorLines(text: string): string[] {
  const parsed = parsePolicy(text);
  return parsed.ok ? [] : parsed.errors.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

let runtime: Uint8Array | undefined;

export function moduleOf(text: string, recordHash: string = RECORD_HASH): Uint8Array {
  runtime ??= loadRuntime();
  const { module } = compilePolicy({ ir: irOf(text), runtime, recordHash });
  if (module === null) throw new Error('The policy is too large for a module');
  return module;
}

/** As hexadecimal SHA-256. */
export function hashOfModule(text: string): string {
  return createHash('sha256').update(moduleOf(text)).digest('hex');
}

export function enginesOf(text: string): Engines {
  return { typescript: createTypescriptEngine(irOf(text)), wasm: createWasmEngine(moduleOf(text)) };
}
