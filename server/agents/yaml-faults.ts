import { LineCounter, parseDocument } from 'yaml';

const FAULTS_MAX = 100;

/** What makes a text no YAML (version 1.2). The dashboard loads this module, too, once YAML is edited. */
export function yamlFaults(text: string): { line: number; column: number; message: string }[] {
  const lines = new LineCounter();
  const { errors } = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  return errors.slice(0, FAULTS_MAX).map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return { line, column: col, message };
  });
}
