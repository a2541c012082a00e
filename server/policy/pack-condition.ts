import type { Condition, PathStep } from '../../client/policy/language/index.ts';
import { INDEX_BIT, NODE } from './blob-layout.ts';
import type { BlobWriter } from './blob-writer.ts';
import { packOperator } from './pack-operator.ts';

/** State shared by the conditions of one policy: the blob, the paths (each once) and the scratch memory they need. */
export class PackedConditions {
  readonly blob: BlobWriter;
  readonly paths: PathStep[][] = [];
  readonly #pathIds = new Map<string, number>();
  /** The length of the longest pattern part with `?` that is searched for. */
  wildBytesMax = 0;

  constructor(blob: BlobWriter) {
    this.blob = blob;
  }

  pathId(path: PathStep[]): number {
    const key = JSON.stringify(path);
    const known = this.#pathIds.get(key);
    if (known !== undefined) return known;
    this.#pathIds.set(key, this.paths.length);
    return this.paths.push(path) - 1;
  }
}

/** Writes a condition and returns its address. */
export function packCondition(packed: PackedConditions, condition: Condition): number {
  const { blob } = packed;
  const address = blob.address;
  switch (condition.kind) {
    case 'all':
    case 'any': {
      const { kind, conditions } = condition;
      beginNode(blob, kind === 'all' ? NODE.ALL : NODE.ANY, conditions.length);
      for (const one of conditions) packCondition(packed, one);
      break;
    }
    case 'not':
      beginNode(blob, NODE.NOT, 1);
      packCondition(packed, condition.condition);
      break;
    default: {
      const { base, path, operators } = condition;
      beginNode(blob, base === 'arguments' ? NODE.ARGUMENT_TEST : NODE.ELEMENT_TEST, operators.length);
      blob.word(packed.pathId(path));
      for (const operator of operators) packOperator(packed, operator);
    }
  }
  blob.patch(address + 4, blob.address);
  return address;
}

/** The second word is set to the address after the node later. */
function beginNode(blob: BlobWriter, kind: number, count: number): void {
  blob.word(kind | (count << 8));
  blob.word(0);
}

/** Writes all paths, then the table of their addresses. Returns the address of the table. */
export function packPaths({ blob, paths }: PackedConditions): number {
  const addresses = paths.map((path) => {
    const address = blob.address;
    blob.word(path.length);
    for (const step of path) packStep(blob, step);
    return address;
  });
  const table = blob.address;
  for (const address of addresses) blob.word(address);
  return table;
}

function packStep(blob: BlobWriter, step: PathStep): void {
  if (typeof step === 'number') {
    blob.word(INDEX_BIT | step);
    blob.word(0);
    return;
  }
  const name = blob.text(step);
  blob.word(name.length);
  blob.ref(name);
}
