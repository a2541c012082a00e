import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url));

/** A program that uses the built client, including its dependencies, in one minified ES module. */
export async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: CLIENT },
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'esm',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('There is no bundle');
  return file.text;
}
