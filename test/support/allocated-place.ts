// Prints whether objects of a place in the code of which all survive are allocated in the young generation or in the old one, by default
// and, with the argument `young`, after what the service does. Needs --allow-natives-syntax and a small young generation.
import { runInThisContext } from 'node:vm';
import { allocateYoung } from '../../server/allocate-young.ts';

type Kept = { at: number; next: Kept | undefined };

// A text, because the compiler and the linter do not know V8's own syntax.
const isYoung = runInThisContext('(object) => %InYoungGeneration(object)') as (object: object) => boolean;
const make = (at: number): Kept => ({ at, next: undefined });

const [, , place] = process.argv;
if (place === 'young') allocateYoung();
let kept: Kept[] = [];
// When V8 decides it depends on what its other threads have done by then: mostly in the first round.
for (let round = place === 'young' ? 2 : 0; round < 4 && isYoung(make(0)); round += 1)
  for (let at = 0; at < 3_000_000; at += 1) {
    kept.push(make(at));
    if (kept.length === 100_000) kept = [];
  }
process.stdout.write(isYoung(make(0)) ? 'young' : 'old');
