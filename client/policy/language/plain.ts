const BOX = /^\[object (?:Number|String|Boolean|BigInt)\]$/;

/** What is in a `new Number(1)` and the like, as JSON.stringify takes it; everything else as it is. */
export function unboxed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return BOX.test(Object.prototype.toString.call(value)) ? value.valueOf() : value;
}

/** Made by a literal, JSON.parse or Object.create(null), in this realm or another. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
