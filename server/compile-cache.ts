import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Stores the compiled code, without its types, next to the packages: later starts take a fifth less time. Must be called before anything
 * else is loaded.
 */
export function keepCompiledCode(): void {
  enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)));
}
