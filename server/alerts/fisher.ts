/** Coefficients of the Lanczos approximation of the gamma function, g = 7 (Press et al., Numerical Recipes, section 6.1). */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** The natural logarithm of n!. */
function logFactorial(n: number): number {
  if (n < 2) return 0;
  const [first = 1, ...rest] = LANCZOS;
  const series = rest.reduce((sum, coefficient, index) => sum + coefficient / (n + index + 1), first);
  const shifted = n + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (n + 0.5) * Math.log(shifted) - shifted + Math.log(series);
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

export type Share = { total: number; denied: number };

/**
 * The probability that `now` has at least this many denials by chance alone, if its calls are denied as often as those of `before`:
 * Fisher's exact test, one-sided (Fisher, Statistical Methods for Research Workers, section 21.02). It is exact for small counts, and
 * automatically more cautious with a short baseline.
 */
export function chanceOf(now: Share, before: Share): number {
  const total = now.total + before.total;
  const denied = now.denied + before.denied;
  const most = Math.min(now.total, denied);
  let term = Math.exp(
    logChoose(denied, now.denied) +
      logChoose(total - denied, now.total - now.denied) -
      logChoose(total, now.total),
  );
  let chance = term;
  for (let k = now.denied; k < most && term > chance * 1e-12; k += 1) {
    term *= ((denied - k) * (now.total - k)) / ((k + 1) * (total - denied - now.total + k + 1));
    chance += term;
  }
  return Math.min(1, chance);
}
