import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Writes a .br and a .gz next to each text file, so that the service never compresses while serving. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    // Not earlier: Vite completes the code as it writes it.
    async writeBundle({ dir = '' }, bundle) {
      for (const fileName of Object.keys(bundle)) {
        if (!/\.(js|css|svg|html)$/.test(fileName)) continue;
        const path = join(dir, fileName);
        const source = await readFile(path);
        const brotli = await toBrotli(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
        await writeFile(`${path}.br`, brotli);
        await writeFile(`${path}.gz`, await toGzip(source, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [compressed()],
  // For dashboard development: `npx vite server/dashboard` next to a running service.
  server: { proxy: { '/v1': 'http://localhost:8000' } },
});
