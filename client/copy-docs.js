// Copies the documents for users of the package into it. Links to documents that are not in the package become plain text.
import { mkdir, readFile, writeFile } from 'node:fs/promises';

const DOCUMENTS = ['client.md', 'policy.md'];

await mkdir(new URL('docs/', import.meta.url), { recursive: true });
for (const name of DOCUMENTS) {
  const text = await readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8');
  const linked = text.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (link, title, target) => {
    if (target === '../client/README.md') return `[README.md](../README.md)`;
    const [file] = target.split('#');
    return file === '' || /^https?:/.test(target) || DOCUMENTS.includes(file) ? link : title;
  });
  await writeFile(new URL(`docs/${name}`, import.meta.url), linked);
}
