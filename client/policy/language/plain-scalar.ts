import { isJsonNumber } from './decimal.ts';
import type { FaultList } from './policy-fault.ts';
import type { YamlNode } from './yaml-node.ts';

const NULL = /^(?:null|Null|NULL|~)$/;
const TRUE = /^(?:true|True|TRUE)$/;
const FALSE = /^(?:false|False|FALSE)$/;
// What the core schema reads as a number.
const CORE_NUMBER =
  /^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?[0-9]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** A plain scalar by YAML's core schema. Numbers keep their source, so that no digit is lost. */
export function plainScalarFrom(source: string, at: number, faults: FaultList): YamlNode {
  if (isJsonNumber(source)) return { kind: 'number', at, source };
  if (NULL.test(source)) return { kind: 'null', at };
  if (TRUE.test(source)) return { kind: 'boolean', at, value: true };
  if (FALSE.test(source)) return { kind: 'boolean', at, value: false };
  if (!CORE_NUMBER.test(source)) return { kind: 'text', at, value: source };
  faults.add(at, `numbers are written as in JSON; ${source.slice(0, 40)} is not`);
  return { kind: 'refused', at };
}
