// make chaos: kills services and store under load, and writes a report. ARGS="--cycles 100 --seed 1 --report FILE"
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { runChaos } from './run.ts';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    report: { type: 'string', default: 'test/tmp/chaos-report.json' },
  },
});
const cycles = Number(values.cycles);

const report = await runChaos({
  cycles,
  seed: Number(values.seed),
  onCycle: (cycle) => process.stderr.write(`\rcycle ${cycle} of ${cycles}`),
});
mkdirSync(dirname(values.report), { recursive: true });
writeFileSync(values.report, `${JSON.stringify(report, null, 2)}\n`);
const { lost, doubled, invented, altered, ...figures } = report;
console.log(`\n${JSON.stringify(figures, null, 2)}`);
console.log(
  `lost ${lost.length}, doubled ${doubled.length}, invented ${invented.length}, altered ${altered.length}; report in ${values.report}`,
);
process.exit([lost, doubled, invented, altered].every(({ length }) => length === 0) ? 0 : 1);
