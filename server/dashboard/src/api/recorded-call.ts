import { writeExact } from './parse-exact.ts';
import type { DecisionRecord } from './types.ts';

export type RecordedCall = Pick<DecisionRecord, 'tool_name' | 'role' | 'arguments'>;

/** A recorded call as an engine takes it, with every digit of its numbers. */
export function callText({ tool_name: tool, role, arguments: args }: RecordedCall): string {
  const head = JSON.stringify({ tool, ...(role === '' ? {} : { role }) });
  return `${head.slice(0, -1)},"arguments":${writeExact(args)}}`;
}

/** Whether its arguments are those that were decided on, neither redacted nor truncated. */
export function isWhole({ arguments: args }: RecordedCall): boolean {
  return args?.['_truncated'] !== true && !writeExact(args).includes('"[REDACTED]"');
}
