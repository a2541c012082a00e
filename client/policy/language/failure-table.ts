/** Knuth, Morris and Pratt's table: for each prefix of the units the length of its longest proper border. */
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
