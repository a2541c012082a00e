import { ZstdDecompress } from 'node:zlib';

/** Each frame costs a turn of the event loop, however small it is. */
const FRAMES_MAX = 1000;

type Done = (error?: Error | null) => void;

/**
 * Decompresses one or several zstd frames (RFC 8878 section 3): a sender may end a frame whenever it flushes. Node's own stream ends after
 * the first frame and does not report the bytes after it, unless they arrive in a later chunk.
 */
export class ZstdFrames extends ZstdDecompress {
  #isFlushing = false;
  #frames = 0;

  /** Node pushes null if bytes are left after a frame. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    return chunk === null && !this.#isFlushing ? true : super.push(chunk, encoding);
  }

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: Done): void {
    const before = this.bytesWritten;
    super._transform(chunk, encoding, (error) => {
      const rest = chunk.subarray(this.bytesWritten - before);
      if (error || rest.length === 0 || this.destroyed) return done(error);
      this.#frames += 1;
      if (this.#frames >= FRAMES_MAX) return done(new Error(`More than ${FRAMES_MAX} zstd frames`));
      this._transform(rest, encoding, done);
    });
  }

  override _flush(done: Done): void {
    this.#isFlushing = true;
    super._flush(done);
  }
}
