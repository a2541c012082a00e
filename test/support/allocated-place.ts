// Prints whether objects allocated at a place in the code are in the young generation or in the old one, if all of them survive: by default
// and, with the argument `young`, with the service's settings. Needs --allow-natives-syntax and a small young generation.
import { runInThisContext } from 'node:vm';
import { allocateYoung } from '../../server/allocate-young.ts';

type Kept = { at: number; next: Kept | undefined };

// As text, because the compiler and the linter do not know V8's own syntax.
const isYoung = runInThisContext('(object) => %InYoungGeneration(object)') as (object: object) => boolean;
const make = (at: number): Kept => ({ at, next: undefined });

const [, , place] = process.argv;
if (place === 'young') allocateYoung();
let kept: Kept[] = [];
// The time of V8's decision depends on its other threads: mostly in the first round.
for (let round = place === 'young' ? 2 : 0; round < 4 && isYoung(make(0)); round += 1)
  for (let at = 0; at < 3_000_000; at += 1) {
    kept.push(make(at));
    if (kept.length === 100_000) kept = [];
  }
process.stdout.write(isYoung(make(0)) ? 'young' : 'old');
