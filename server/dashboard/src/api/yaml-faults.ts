import { LineCounter, parseDocument } from 'yaml';
import type { PolicyFault } from './types.ts';

/** In a module of its own, which is loaded only when YAML is edited: what makes a text no YAML (version 1.2). */
export function yamlFaults(text: string): PolicyFault[] {
  const lines = new LineCounter();
  const { errors } = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  return errors.map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return { line, column: col, message };
  });
}
