import {
  callTextFrom,
  decisionText,
  ENGINE_FAILED,
  unreadableCall,
  utf8From,
  type Decision,
  type PolicyCall,
  type PolicyEngine,
} from './language/runtime.ts';
import { messageOf, PolicyError } from '../errors.ts';
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
  const engine = engineOver(bytes);
  return {
    decide: (call: PolicyCall) => engine.decide(call),
    decideText: (call: string | Uint8Array) => engine.decideText(call),
  };
}

function engineOver(bytes: Uint8Array): WasmEngine {
  try {
    return new WasmEngine(compileModule(bytes));
  } catch (cause) {
    const problem = `The bundle's module cannot run: ${messageOf(cause)}`;
    throw new PolicyError('module_invalid', problem, { cause });
  }
}

const FAILED_TEXT = decisionText(ENGINE_FAILED);

class WasmEngine {
  readonly #module: WasmModule;
  #policy: WasmPolicy | undefined;

  constructor(module: WasmModule) {
    this.#module = module;
    this.#policy = new WasmPolicy(module);
  }

  decide(call: PolicyCall): Decision {
    const written = callTextFrom(call);
    if (!written.ok) return parsedOwn(decisionText(unreadableCall(written.code)));
    return this.#evaluate(written.text).decision;
  }

  decideText(call: string | Uint8Array): string {
    const isBroken = typeof call === 'string' && !call.isWellFormed();
    return this.#evaluate(isBroken ? brokenUtf8From(call) : call).text;
  }

  #evaluate(call: string | Uint8Array): { text: string; decision: Decision } {
    try {
      this.#policy ??= new WasmPolicy(this.#module);
      const text = this.#policy.evaluate(call);
      return { text, decision: parseDecision(text) };
    } catch {
      // A trap, memory that cannot be had, or an invalid result.
      this.#policy = undefined;
      return { text: FAILED_TEXT, decision: parsedOwn(FAILED_TEXT) };
    }
  }
}

/** Encoding would mend a lone surrogate to U+FFFD; the bytes must stay invalid. */
function brokenUtf8From(text: string): Uint8Array {
  const bytes = utf8From(text);
  bytes[bytes.length - 1] = 0xff;
  return bytes;
}

function parsedOwn(text: string): Decision {
  return JSON.parse(text) as Decision;
}

const OUTCOMES: readonly unknown[] = ['allow', 'deny', 'needs_approval'];

/** Throws if the text is not a decision. */
function parseDecision(text: string): Decision {
  const value: unknown = JSON.parse(text);
  if (!isDecision(value)) throw new Error('The result is not a decision');
  return value;
}

function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null) return false;
  const { outcome, reason, violations, hint, ...others } = value as Record<string, unknown>;
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
