import { readLeb128 } from '../leb128.ts';

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const CUSTOM_SECTION = 0;
const START_SECTION = 8;
const DATA_SECTION = 11;
const DATA_COUNT_SECTION = 12;
const I32_CONST = 0x41;
const END = 0x0b;

type CustomSection = { name: string; text: string };

/**
 * Appends a data segment and custom sections to a runtime that has no data. Plain concatenation gives the order of
 * sections that WebAssembly requires.
 */
export function withData(
  runtime: Uint8Array,
  { address, data, sections }: { address: number; data: Uint8Array; sections: CustomSection[] },
): Uint8Array {
  assertPlainRuntime(runtime);
  const segment = [0x01, 0x00, I32_CONST, ...signedLeb(address), END, ...unsignedLeb(data.length)];
  const parts = [
    runtime,
    Uint8Array.from([DATA_SECTION, ...unsignedLeb(segment.length + data.length), ...segment]),
    data,
    ...sections.map(customSection),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

function customSection({ name, text }: CustomSection): Uint8Array {
  const nameBytes = Buffer.from(name);
  const content = [...unsignedLeb(nameBytes.length), ...nameBytes, ...Buffer.from(text)];
  return Uint8Array.from([CUSTOM_SECTION, ...unsignedLeb(content.length), ...content]);
}

/** A second data section would be invalid, and abi 1 has no start section. */
function assertPlainRuntime(runtime: Uint8Array): void {
  if (!MAGIC_AND_VERSION.every((byte, index) => runtime[index] === byte))
    throw new Error('The policy runtime is not a WebAssembly module');
  let at = MAGIC_AND_VERSION.length;
  while (at < runtime.length) {
    const id = runtime[at];
    if (id === START_SECTION || id === DATA_SECTION || id === DATA_COUNT_SECTION)
      throw new Error(`The policy runtime has a section ${id}, so no policy can be appended`);
    const { value: length, end } = readLeb128(runtime, at + 1);
    at = end + length;
  }
}

function unsignedLeb(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left & 0x7f) | 0x80);
    left >>>= 7;
  }
  return [...bytes, left];
}

/** For numbers from 0: one more byte if the sign bit would be set. */
function signedLeb(value: number): number[] {
  const bytes = unsignedLeb(value);
  const last = bytes.pop() ?? 0;
  return last < 0x40 ? [...bytes, last] : [...bytes, last | 0x80, 0x00];
}
