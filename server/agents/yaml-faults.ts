import { isCollection, isMap, isPair, isScalar, LineCounter, parseDocument } from 'yaml';

const FAULTS_MAX = 100;
/** Characters that YAML 1.2 allows nowhere (section 5.1). */
const CONTROL_CHARACTER = /[^\P{Cc}\t\n\r\x85]/gu;
const SECOND_DOCUMENT = 'A definition is one document, and a second one starts here';

/**
 * The faults that make a text invalid YAML (version 1.2), in the order of the text. The dashboard also loads this module once YAML is
 * edited.
 */
export function yamlFaults(text: string): { line: number; column: number; message: string }[] {
  const lines = new LineCounter();
  const { errors, contents } = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    // The library would compare each key with all others of its map.
    uniqueKeys: false,
  });
  const syntax = errors.map(({ pos: [at], code, message }) => ({
    at,
    message: code === 'MULTIPLE_DOCS' ? SECOND_DOCUMENT : message,
  }));
  const controls = Array.from(text.matchAll(CONTROL_CHARACTER), ({ index: at }) => ({
    at,
    message: 'Control characters are not allowed',
  }));
  const duplicates = duplicateKeys(contents).map((at) => ({ at, message: 'Map keys must be unique' }));
  return [...syntax, ...controls, ...duplicates]
    .sort((a, b) => a.at - b.at)
    .slice(0, FAULTS_MAX)
    .map(({ at, message }) => {
      const { line, col } = lines.linePos(at);
      return { line, column: col, message };
    });
}

/** The positions of scalar keys that repeat an earlier key of their map. */
function duplicateKeys(root: unknown): number[] {
  const offsets: number[] = [];
  for (const nodes = [root]; nodes.length > 0;) {
    const node = nodes.pop();
    const keys = new Set<unknown>();
    for (const item of isCollection(node) ? node.items : []) {
      if (isPair(item)) nodes.push(item.key, item.value);
      else nodes.push(item);
      if (!isMap(node) || !isPair(item) || !isScalar(item.key)) continue;
      const { value, range } = item.key;
      if (keys.has(value)) offsets.push(range?.[0] ?? 0);
      keys.add(value);
    }
  }
  return offsets;
}
