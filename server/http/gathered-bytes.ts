const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Bytes that arrive in pieces. They are copied into one buffer as they arrive: if a caller sends single bytes, a list of pieces would take
 * a hundred times the memory.
 */
export class GatheredBytes {
  #buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The first piece is not copied. */
  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#buffer = piece;
    else {
      if (length > this.#buffer.length) {
        const larger = Buffer.allocUnsafe(2 * length);
        this.#buffer.copy(larger, 0, 0, this.#length);
        this.#buffer = larger;
      }
      piece.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  /** Removes and returns all bytes. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = EMPTY;
    this.#length = 0;
    return bytes;
  }
}
