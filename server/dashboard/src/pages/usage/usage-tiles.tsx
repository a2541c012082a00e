import type { UsageCounts, UsageSeries } from '../../api/types.ts';
import type { Previous } from '../../charts/time-series.tsx';
import { formatCompact, formatCost, formatCount, formatShare } from '../../text/format.ts';
import { Tiles } from '../../ui/tiles.tsx';
import { countChange } from '../overview/change.ts';
import { ChangeText } from '../overview/tile.tsx';

type UsageTilesProps = {
  totals: UsageCounts;
  previous: (Previous<UsageSeries> & { words: string }) | undefined;
};

/** The totals, each with how it changed. */
export function UsageTiles({ totals, previous }: UsageTilesProps) {
  const tokens = totals.input_tokens + totals.output_tokens;
  const note = (of: (counts: UsageCounts) => number, words: string) => (
    <>
      <ChangeText change={previous && countChange(of(totals), sumOf(previous.series, of))} /> {words}
    </>
  );
  const costWords = previous === undefined ? 'as reported' : `than ${previous.words}`;
  const tiles = [
    [
      'Cost',
      formatCost(totals.cost_usd),
      totals.cost_usd === 0 ? 'no call reported a cost' : note(({ cost_usd }) => cost_usd, costWords),
    ],
    [
      'Calls',
      formatCount(totals.calls),
      note(({ calls }) => calls, `${formatCompact(Math.round(tokens / totals.calls))} tokens per call`),
    ],
    [
      'Input tokens',
      formatCompact(totals.input_tokens),
      note(
        ({ input_tokens }) => input_tokens,
        `${formatShare(totals.cached_input_tokens, totals.input_tokens)} from cache`,
      ),
    ],
    [
      'Output tokens',
      formatCompact(totals.output_tokens),
      note(({ output_tokens }) => output_tokens, `${formatCompact(totals.reasoning_tokens)} for reasoning`),
    ],
  ] as const;
  return <Tiles tiles={tiles} />;
}

function sumOf({ buckets }: UsageSeries, of: (counts: UsageCounts) => number): number {
  return buckets.reduce((sum, bucket) => sum + of(bucket), 0);
}
