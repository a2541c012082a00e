/** The size kept between inserts. Larger ones get a separate buffer. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
const BYTES_PER_UNIT_MAX = 3;
const NEWLINE = 0x0a;

/** Lines as bytes, which stay unchanged until they are released. */
type EncodedLines = { value: Buffer; release: () => void };

/** Writes lines of text into a buffer that the next insert reuses: new pages of memory took a tenth of each insert's time. */
export class LineEncoder {
  #kept = Buffer.allocUnsafeSlow(64 * 1024);
  #isInUse = false;

  /** `end` takes the place of the last byte of every line, which is its closing bracket. */
  encode(lines: readonly string[], end = ''): EncodedLines {
    const tail = Buffer.from(`${end}\n`);
    const cut = Number(end !== '');
    let units = lines.length * tail.length;
    for (const line of lines) units += line.length;
    const bytesMax = units * BYTES_PER_UNIT_MAX;
    const isKept = !this.#isInUse && bytesMax <= KEPT_BYTES_MAX * BYTES_PER_UNIT_MAX;
    if (isKept && bytesMax > this.#kept.length) this.#kept = Buffer.allocUnsafeSlow(2 * bytesMax);
    const buffer = isKept ? this.#kept : Buffer.allocUnsafeSlow(bytesMax);
    let at = 0;
    for (const line of lines) {
      at += buffer.write(line, at) - cut;
      if (cut === 0) buffer[at] = NEWLINE;
      else tail.copy(buffer, at);
      at += tail.length;
    }
    if (isKept) this.#isInUse = true;
    const release = () => {
      if (isKept) this.#isInUse = false;
    };
    return { value: buffer.subarray(0, at), release };
  }
}
