/** For short literals the built-in search is faster, and its worst case is small. */
const BUILT_IN_LENGTH_MAX = 16;

/** Like indexOf for this literal, in linear time for every text. */
export function literalSearch(literal: string): (text: string, start: number) => number {
  if (literal.length <= BUILT_IN_LENGTH_MAX) return (text, start) => text.indexOf(literal, start);
  const units = Uint16Array.from({ length: literal.length }, (_, index) => literal.charCodeAt(index));
  const borders = failureTable(units);
  return (text, start) => {
    let matched = 0;
    for (let index = start; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      while (matched > 0 && unit !== units[matched]) matched = borders[matched - 1] ?? 0;
      if (unit === units[matched]) matched += 1;
      if (matched === units.length) return index + 1 - matched;
    }
    return -1;
  };
}

/** The failure table of Knuth, Morris and Pratt: for each prefix the length of its longest proper border. */
export function failureTable(units: ArrayLike<number>): Uint16Array {
  const table = new Uint16Array(units.length);
  let border = 0;
  for (let index = 1; index < units.length; index += 1) {
    while (border > 0 && units[index] !== units[border]) border = table[border - 1] ?? 0;
    if (units[index] === units[border]) border += 1;
    table[index] = border;
  }
  return table;
}
