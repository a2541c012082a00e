import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './service.ts';

const OUT = 'node_modules/.cache/test-server';

/** Modules that find files next to themselves stay next to their source. */
const keepUrls: Plugin = {
  name: 'keep-urls',
  setup: (bundling) =>
    bundling.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url), loader: 'ts' };
    }),
};

/**
 * Bundles the service and its command line from their sources, and returns the directory (see `scriptOf`). A start loads a thousand
 * modules, which takes twice as long as loading their bundle; a run of the tests starts three hundred.
 */
export async function buildServer(): Promise<string> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['main', 'cli/main'].map((name) => `server/${name}.ts`),
    outdir: OUT,
    bundle: true,
    splitting: true,
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['chdb', 'chdb/*'],
    plugins: [keepUrls],
    // CommonJS packages call it.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';const require = requireFrom(import.meta.url);`,
    },
    logLevel: 'error',
  });
  return OUT;
}
