import {
  callTextFrom,
  decisionText,
  ENGINE_FAILED,
  ERROR_TYPES,
  unreadableCall,
  utf8From,
  type Decision,
  type PolicyEngine,
} from './language/runtime.ts';
import { messageOf, PolicyError } from '../errors.ts';
import { isObject } from '../json.ts';
import { compileModule, hasWebAssembly, WasmPolicy, type WasmModule } from './wasm-policy.ts';

/**
 * The engine over a verified module, compiled and instantiated: throws `wasm_unavailable` in a runtime without WebAssembly
 * and `module_invalid` for a module that cannot run. A failure in a call denies it; the next call gets a new instance.
 */
export function createWasmEngine(bytes: Uint8Array): PolicyEngine {
  if (!hasWebAssembly())
    throw new PolicyError(
      'wasm_unavailable',
      'This runtime has no WebAssembly, which policies are compiled to',
    );
  try {
    return engineOver(compileModule(bytes));
  } catch (cause) {
    const problem = `The bundle's module cannot run: ${messageOf(cause)}`;
    throw new PolicyError('module_invalid', problem, { cause });
  }
}

const FAILED_TEXT = decisionText(ENGINE_FAILED);

function engineOver(module: WasmModule): PolicyEngine {
  let policy: WasmPolicy | undefined = new WasmPolicy(module);
  const evaluate = (call: string | Uint8Array): { text: string; decision: Decision } => {
    try {
      policy ??= new WasmPolicy(module);
      const text = policy.evaluate(call);
      return { text, decision: parseDecision(text) };
    } catch {
      // A trap, a failed allocation, or an invalid result.
      policy = undefined;
      return { text: FAILED_TEXT, decision: parsedOwn(FAILED_TEXT) };
    }
  };
  return {
    decide: (call) => {
      const written = callTextFrom(call);
      if (!written.ok) return parsedOwn(decisionText(unreadableCall(written.code)));
      return evaluate(written.text).decision;
    },
    decideText: (call) => {
      const isBroken = typeof call === 'string' && !call.isWellFormed();
      return evaluate(isBroken ? brokenUtf8From(call) : call).text;
    },
  };
}

/** Encoding would change a lone surrogate to U+FFFD; the bytes must stay invalid. */
function brokenUtf8From(text: string): Uint8Array {
  const bytes = utf8From(text);
  bytes[bytes.length - 1] = 0xff;
  return bytes;
}

function parsedOwn(text: string): Decision {
  return JSON.parse(text) as Decision;
}

const OUTCOMES: readonly unknown[] = Object.keys(ERROR_TYPES);

/** Throws if the text is not a decision. */
function parseDecision(text: string): Decision {
  const value: unknown = JSON.parse(text);
  if (!isDecision(value)) throw new Error('The result is not a decision');
  return value;
}

function isDecision(value: unknown): value is Decision {
  if (!isObject(value)) return false;
  const { outcome, reason, violations, hint, ...others } = value;
  return (
    OUTCOMES.includes(outcome) &&
    typeof reason === 'string' &&
    Array.isArray(violations) &&
    violations.every((violation) => typeof violation === 'string') &&
    typeof hint === 'object' &&
    !Array.isArray(hint) &&
    Object.keys(others).length === 0
  );
}
