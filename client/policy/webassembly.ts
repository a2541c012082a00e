/** The little of the WebAssembly interface that an engine needs; TypeScript only has it with the whole DOM. */
export type WasmModule = object;
type WasmApi = {
  Module: { new (bytes: Uint8Array): WasmModule };
  Instance: { new (module: WasmModule): { exports: Record<string, unknown> } };
};

// Looked up at use, so that importing this needs no WebAssembly.
export function compileModule(bytes: Uint8Array): WasmModule {
  return new (api().Module)(bytes);
}

/** Without an import object: a module that wants imports does not instantiate. */
export function instantiateModule(module: WasmModule): Record<string, unknown> {
  return new (api().Instance)(module).exports;
}

function api(): WasmApi {
  return (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
}
