const BOX = /^\[object (?:Number|String|Boolean|BigInt)\]$/;

/** What is in a `new Number(1)` and the like, as JSON.stringify takes it; everything else as it is. */
export function unboxed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return BOX.test(Object.prototype.toString.call(value)) ? value.valueOf() : value;
}

/** Made by a literal, JSON.parse or Object.create(null), in this realm or another. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether all that the object tells is in its own properties, as they are now: a Map, say, or a getter tells more. */
export function isTransparent(value: object): boolean {
  if (isPlain(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) return true;
  if (Object.prototype.toString.call(value) !== '[object Object]') return false;
  const own = Object.values(Object.getOwnPropertyDescriptors(value));
  if (!own.every((property) => property.enumerable === true && 'value' in property)) return false;
  for (let type = prototypeOf(value); type !== null && prototypeOf(type) !== null; type = prototypeOf(type)) {
    const inherited = Object.values(Object.getOwnPropertyDescriptors(type));
    if (!inherited.every((property) => typeof property.value === 'function')) return false;
  }
  return true;
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null;
}
