import { BUNDLE_ABI, utf8From } from './language/runtime.ts';

const encoder = new TextEncoder();
// ignoreBOM keeps a byte order mark, fatal refuses invalid bytes: neither may be silently corrected.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Exports = {
  memory: { buffer: ArrayBuffer };
  abi_version(): number;
  alloc(length: number): number;
  evaluate(pointer: number, length: number): number;
};

const FUNCTIONS = ['abi_version', 'alloc', 'evaluate'] as const;

/** One instance of a module (docs/policy.md, "Module interface"). After it throws it must not be used again. */
export class WasmPolicy {
  readonly #exports: Exports;

  constructor(module: WasmModule) {
    // Without an import object: a module that needs imports does not instantiate.
    this.#exports = exportsOf(new (api().Instance)(module).exports);
    if (this.#exports.abi_version() !== BUNDLE_ABI) throw new Error('The module has another ABI version');
  }

  /** The JSON text of the decision. */
  evaluate(call: string | Uint8Array): string {
    if (typeof call === 'string' && call.length <= SHORT_CALL_LENGTH_MAX) return this.#evaluateShort(call);
    return decoder.decode(this.evaluateBytes(typeof call === 'string' ? utf8From(call) : call));
  }

  /** The same as bytes, which are valid until the next call. */
  evaluateBytes(call: Uint8Array): Uint8Array {
    const pointer = this.#exports.alloc(call.length);
    // Without room, the module refuses the call as too large, judging by its length only.
    if (pointer !== 0) this.#view(pointer, call.length).set(call);
    return this.#result(this.#exports.evaluate(pointer, call.length));
  }

  /** Encodes into the module's memory directly. */
  #evaluateShort(call: string): string {
    const bytesMax = call.length * 3;
    const pointer = this.#exports.alloc(bytesMax);
    if (pointer === 0) throw new Error('The module has no room for a short call');
    const { written } = encoder.encodeInto(call, this.#view(pointer, bytesMax));
    return decoder.decode(this.#result(this.#exports.evaluate(pointer, written)));
  }

  /** Reads the buffer each time: growth detaches the old one. */
  #view(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer, pointer >>> 0, length);
  }

  #result(pointer: number): Uint8Array {
    const { buffer } = this.#exports.memory;
    const length = new DataView(buffer).getUint32(pointer >>> 0, true);
    return new Uint8Array(buffer, (pointer >>> 0) + 4, length);
  }
}

/** At three bytes per unit, far below the limit of a call. */
const SHORT_CALL_LENGTH_MAX = 16_384;

/** TypeScript declares WebAssembly only together with the whole DOM. */
export type WasmModule = object;
type WasmApi = {
  Module: { new (bytes: Uint8Array): WasmModule };
  Instance: { new (module: WasmModule): { exports: Record<string, unknown> } };
};

export function compileModule(bytes: Uint8Array): WasmModule {
  return new (api().Module)(bytes);
}

function exportsOf(exports: Record<string, unknown>): Exports {
  const { memory } = exports as Partial<Exports>;
  const isComplete = FUNCTIONS.every((name) => typeof exports[name] === 'function');
  // Not `instanceof`: in Jest the global ArrayBuffer is another than that of WebAssembly.
  const isMemory = Object.prototype.toString.call(memory?.buffer) === '[object ArrayBuffer]';
  if (!isComplete || !isMemory) throw new Error('It lacks one of its exports');
  return exports as Exports;
}

export function hasWebAssembly(): boolean {
  return typeof api() === 'object';
}

/** Looked up at use, so that importing this file needs no WebAssembly. */
function api(): WasmApi {
  return (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
}
