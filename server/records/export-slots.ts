import { RequestError } from '../errors.ts';
import { EXPORTS_OF_PROJECT_MAX, EXPORTS_RUNNING_MAX } from '../limits.ts';

/** Bounds the exports that are being sent, because each holds a page in memory for as long as its caller likes. */
export class ExportSlots {
  readonly #ofProject = new Map<string, number>();
  #running = 0;

  /** Runs one export. Rejects with overloaded if too many are running. */
  async run(projectId: string, work: () => Promise<void>): Promise<void> {
    const count = this.#ofProject.get(projectId) ?? 0;
    if (this.#running >= EXPORTS_RUNNING_MAX || count >= EXPORTS_OF_PROJECT_MAX)
      throw new RequestError('overloaded', 'Too many exports are running. Try again when one has ended.');
    this.#running += 1;
    this.#ofProject.set(projectId, count + 1);
    try {
      await work();
    } finally {
      this.#running -= 1;
      const left = (this.#ofProject.get(projectId) ?? 1) - 1;
      if (left === 0) this.#ofProject.delete(projectId);
      else this.#ofProject.set(projectId, left);
    }
  }
}
