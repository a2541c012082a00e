import type { Random } from '../../../support/random.ts';

type Waiting = { actor: string; carryOut: (() => void) | undefined; goOn: () => void };

/**
 * Decides at random who does the next step. An actor may be killed between any two steps; what it has sent to the store by then is
 * carried out later, or never.
 */
export class Schedule {
  readonly #random: Random;
  #waiting: Waiting[] = [];
  #onTheWay: (() => void)[] = [];
  readonly #frozen = new Set<string>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** A statement: takes effect at one moment, and its answer comes at another, or is lost. */
  async statement<T>(actor: string, effect: () => T): Promise<T> {
    let result: T | undefined;
    let isDone = false;
    const carryOut = () => {
      if (!isDone) result = effect();
      isDone = true;
    };
    await this.#wait(actor, carryOut);
    if (this.#random.chance(0.04)) {
      if (this.#random.chance(0.5)) this.#onTheWay.push(carryOut);
      throw new Error('The answer is lost');
    }
    carryOut();
    await this.#wait(actor, undefined);
    if (this.#random.chance(0.02)) throw new Error('The answer is lost');
    return result as T;
  }

  pause(actor: string): Promise<void> {
    return this.#wait(actor, undefined);
  }

  kill(actor: string): void {
    const [gone, others] = [this.#of(actor), this.#waiting.filter((one) => !isOf(actor, one))];
    this.#waiting = others;
    for (const { carryOut } of gone)
      if (carryOut !== undefined && this.#random.chance(0.5)) this.#onTheWay.push(carryOut);
  }

  freeze(actor: string): void {
    this.#frozen.add(actor);
  }

  thaw(): void {
    this.#frozen.clear();
  }

  /** One step of some actor. Resolves with false if none has one. */
  async step(): Promise<boolean> {
    // Everyone continues to the next wait.
    await new Promise(setImmediate);
    const able = this.#waiting.filter(
      ({ actor }) => ![...this.#frozen].some((name) => actor.startsWith(name)),
    );
    const at = this.#random.below(able.length + this.#onTheWay.length);
    const next = able[at];
    if (next !== undefined) {
      this.#waiting = this.#waiting.filter((one) => one !== next);
      next.goOn();
      return true;
    }
    const [arrived] = this.#onTheWay.splice(at - able.length, 1);
    arrived?.();
    return arrived !== undefined;
  }

  #wait(actor: string, carryOut: (() => void) | undefined): Promise<void> {
    return new Promise((goOn) => this.#waiting.push({ actor, carryOut, goOn }));
  }

  #of(actor: string): Waiting[] {
    return this.#waiting.filter((one) => isOf(actor, one));
  }
}

function isOf(actor: string, one: Waiting): boolean {
  return one.actor.startsWith(actor);
}
