import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { bundled } from '../support/bundle.ts';
import { median } from './median.ts';

const STARTS = 15;

const BUNDLES = {
  configure: `export { configure, flush, shutdown } from '@gatehouse/client';`,
  'govern, with the parser of YAML': `export { govern } from '@gatehouse/client';`,
  'everything of /pure': `export * from '@gatehouse/client/pure';`,
};

/** What the package costs a program: the time of a cold import, and the bytes of bundles. */
export async function benchPackage(): Promise<void> {
  for (const entry of ['index', 'pure', 'adapters/ai-sdk', 'adapters/mcp'])
    console.log(
      `import of dist/${entry}.js`.padEnd(44) +
        `${importMs(entry).toFixed(1).padStart(8)} ms, median of ${STARTS}`,
    );
  for (const [name, contents] of Object.entries(BUNDLES)) {
    const bundle = await bundled(contents);
    const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`;
    console.log(
      `bundle: ${name}`.padEnd(44) +
        `${kilobytes(Buffer.byteLength(bundle))} minified, ${kilobytes(gzipSync(bundle).length)} compressed`,
    );
  }
}

/** Each in a process of its own, without a compile cache. */
function importMs(entry: string): number {
  const url = new URL(`../../client/dist/${entry}.js`, import.meta.url).href;
  const program = `const at = performance.now(); await import('${url}'); console.log(performance.now() - at);`;
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const times = Array.from({ length: STARTS }, () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env })),
  );
  return median(times);
}
