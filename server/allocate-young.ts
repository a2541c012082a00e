import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * Allocates all objects in the young generation. By default, V8 allocates objects in the old one if earlier objects from the same place in
 * the code survived collections, as those of requests that wait for a flush do. There, each answered request keeps later ones alive until a
 * full collection: docs/decisions/0037-no-pretenuring.md. Called when the code of the service is loaded.
 */
export function allocateYoung(): void {
  // V8 uses stored code only under the flags under which it was stored.
  flushCompileCache();
  setFlagsFromString('--no-allocation-site-pretenuring');
}
