import type { UsageCounts, UsageSeries } from '../../api/types.ts';
import type { Previous } from '../../charts/time-series.tsx';
import {
  COMPACT_TILE_USD,
  formatCompact,
  formatCompactCost,
  formatCost,
  formatCount,
  formatShare,
} from '../../text/format.ts';
import { Tiles } from '../../ui/tiles.tsx';
import { type Change, countChange, thanWords } from '../overview/change.ts';
import { ChangeText } from '../overview/tile.tsx';

type UsageTilesProps = {
  totals: UsageCounts;
  previous: (Previous<UsageSeries> & { words: string }) | undefined;
};

/** The totals, each with how it changed. */
export function UsageTiles({ totals, previous }: UsageTilesProps) {
  const tokens = totals.input_tokens + totals.output_tokens;
  // The second line is reserved before the comparison is there, so that nothing moves.
  const note = (words: string, of: (counts: UsageCounts) => number) => (
    <>
      <span class="tile-line">{words}</span>
      <span class="tile-line">
        {previous !== undefined && (
          <Compared change={countChange(of(totals), sumOf(previous.series, of))} words={previous.words} />
        )}
      </span>
    </>
  );
  const perCall = `${formatCompact(Math.round(tokens / totals.calls))} tokens per call`;
  const cached = `${formatShare(totals.cached_input_tokens, totals.input_tokens)} from cache`;
  const reasoning = `${formatCompact(totals.reasoning_tokens)} for reasoning`;
  const tiles = [
    [
      'Cost',
      formatCompactCost(totals.cost_usd, COMPACT_TILE_USD),
      note('as reported', ({ cost_usd }) => cost_usd),
      formatCost(totals.cost_usd),
    ],
    ['Calls', formatCount(totals.calls), note(perCall, ({ calls }) => calls)],
    ['Input tokens', formatCompact(totals.input_tokens), note(cached, ({ input_tokens }) => input_tokens)],
    [
      'Output tokens',
      formatCompact(totals.output_tokens),
      note(reasoning, ({ output_tokens }) => output_tokens),
    ],
  ] as const;
  return <Tiles tiles={tiles} />;
}

function Compared({ change, words }: { change: Change | undefined; words: string }) {
  return (
    <>
      <ChangeText change={change} /> {thanWords(change, words)}
    </>
  );
}

function sumOf({ buckets }: UsageSeries, of: (counts: UsageCounts) => number): number {
  return buckets.reduce((sum, bucket) => sum + of(bucket), 0);
}
