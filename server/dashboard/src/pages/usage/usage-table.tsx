import type { ComponentChildren } from 'preact';
import type { Call } from '../../api/call.ts';
import type { LlmUsage, UsageCounts } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import { countText, formatCompact, formatCost, formatCount } from '../../text/format.ts';
import { inertText } from '../../text/inert-text.ts';
import { Icon } from '../../ui/icon.tsx';
import { Inert } from '../../ui/inert.tsx';
import { Loading, Waiting } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useSorted } from '../../ui/use-sorted.ts';

/** The sort keys of the numeric columns. */
const NUMBERS = {
  Calls: ({ calls }: UsageCounts) => calls,
  Input: ({ input_tokens }: UsageCounts) => input_tokens,
  Cached: ({ cached_input_tokens }: UsageCounts) => cached_input_tokens,
  Output: ({ output_tokens }: UsageCounts) => output_tokens,
  Cost: ({ cost_usd }: UsageCounts) => cost_usd,
};
const NUMBER_LABELS = Object.keys(NUMBERS);

/** As high as the rows that will replace it, so that nothing below moves. */
const LOADING_LINES = 10;

type UsageRow = UsageCounts & { name: string };
type UsageCall = Call<'GET /v1/projects/{id}/audit/llm-usage'>;

/** The measure of the bars and of the default order: cost, or tokens if no cost was reported. */
function sizeBy({ cost_usd }: UsageCounts) {
  const isCost = cost_usd > 0;
  const sizeOf = (row: UsageCounts) => (isCost ? row.cost_usd : row.input_tokens + row.output_tokens);
  return { share: `Share of ${isCost ? 'cost' : 'tokens'}`, sizeOf };
}

type SortedProps = {
  title: string;
  of: string;
  rows: UsageRow[];
  totals: UsageCounts;
  /** The model calls of a row, or those of one model among them. */
  hrefOf: (name: string, model?: string) => string;
  /** The page with this row alone. */
  onlyHref?: (name: string) => string;
  decisionsHref?: (name: string) => string;
  /** Requests the models of a row, which open below it. */
  modelsOf?: (name: string) => UsageCall;
};

/** The values of a field with the most calls, in the order that the address names. */
export function SortedUsage(props: SortedProps) {
  const { title, of, rows, totals, hrefOf, onlyHref, decisionsHref, modelsOf } = props;
  const { sorted, columns } = useUsageOrder(rows, { of, totals });
  const unlisted = (key: 'calls' | 'cost_usd') => rows.reduce((rest, row) => rest - row[key], totals[key]);
  const opened = usePlace().query.get('models');
  return (
    <UsageTable
      title={title}
      columns={columns}
      foot={
        unlisted('calls') > 0 && (
          <p class="panel-foot muted">
            Only the {formatCount(rows.length)} with the most calls are listed. The others made{' '}
            {countText(unlisted('calls'), 'call')} for {formatCost(unlisted('cost_usd'))}.
          </p>
        )
      }
    >
      {sorted.map((row) => {
        const isOpen = modelsOf !== undefined && row.name === opened;
        return [
          <UsageLine key={row.name} row={row} totals={totals} href={hrefOf(row.name)}>
            {onlyHref !== undefined && <OnlyLink name={row.name} href={onlyHref(row.name)} />}
            {modelsOf !== undefined && (
              <a
                class="usage-models"
                href={hrefWith({ models: isOpen ? undefined : row.name })}
                aria-expanded={isOpen}
                aria-label={`Models of ${inertText(row.name)}`}
              >
                Models
              </a>
            )}
            {decisionsHref !== undefined && <DecisionsLink name={row.name} href={decisionsHref(row.name)} />}
          </UsageLine>,
          isOpen && (
            <Models
              key="models"
              asked={modelsOf(row.name)}
              totals={totals}
              hrefOf={(model) => hrefOf(row.name, model)}
            />
          ),
        ];
      })}
    </UsageTable>
  );
}

type OrderOptions = { of: string; totals: UsageCounts };

/** Usage in the order that the address names, and the heads of its columns, which lead to other orders. */
export function useUsageOrder(rows: UsageRow[], { of, totals }: OrderOptions) {
  const { share, sizeOf } = sizeBy(totals);
  const param = orderParam(of);
  const keys = { [of]: (row: UsageRow) => row.name, [share]: sizeOf, ...NUMBERS };
  const { sorted, column } = useSorted(rows, keys, { first: `-${share}`, param });
  const numbers = NUMBER_LABELS.map((label) => column(label, 'number'));
  return { sorted, columns: [column(of), column(share, 'usage-share'), ...numbers] };
}

/** The parameter of the address that holds the order of a table. */
export function orderParam(of: string): string {
  return `order-${of.toLowerCase()}`;
}

type TableProps = {
  title: string;
  columns: Column[];
  /** Below the table. */
  foot?: ComponentChildren;
  /** Its rows; undefined while they are loading. */
  children: ComponentChildren;
};

export function UsageTable({ title, columns, foot, children }: TableProps) {
  return (
    <section class="panel usage-panel" aria-label={title}>
      <h2>{title}</h2>
      <Table label={`Usage ${title.toLowerCase()}`} columns={columns}>
        {children}
      </Table>
      {children === undefined && <Loading lines={LOADING_LINES} />}
      {foot}
    </section>
  );
}

type ModelsProps = { asked: UsageCall; totals: UsageCounts; hrefOf: (model: string) => string };

/** The models that an agent called, in rows like its own. */
function Models({ asked, totals, hrefOf }: ModelsProps) {
  const answer = useAnswer(asked);
  const { data } = answer;
  if (data === undefined)
    return (
      <tr class="usage-model">
        <td colSpan={NUMBER_LABELS.length + 2}>
          <Waiting answer={answer} lines={2} />
        </td>
      </tr>
    );
  return (
    <>
      {byCost(data).map((row) => (
        <UsageLine key={row.name} row={row} totals={totals} href={hrefOf(row.name)} kind="usage-model" />
      ))}
    </>
  );
}

function byCost({ by_model }: LlmUsage): UsageRow[] {
  return by_model
    .map((row) => ({ ...row, name: row.model }))
    .sort((a, b) => b.cost_usd - a.cost_usd || b.calls - a.calls);
}

type LineProps = {
  row: UsageRow;
  totals: UsageCounts;
  href: string;
  kind?: string;
  /** Further content of a row, after its name. */
  children?: ComponentChildren;
};

/** One row. The empty value has a label on display only. */
export function UsageLine({ row, totals, href, kind, children }: LineProps) {
  const { sizeOf } = sizeBy(totals);
  const whole = sizeOf(totals);
  const name = row.name === '' ? <span class="muted">(none)</span> : <Inert text={row.name} />;
  return (
    <tr class={kind}>
      <th scope="row" class="cell-long">
        <a href={href}>{name}</a>
        {children}
      </th>
      <td class="usage-share">
        <span class="bar" aria-hidden="true">
          <span
            class="bar-part tone-allow"
            style={{ width: `${whole === 0 ? 0 : (sizeOf(row) / whole) * 100}%` }}
          />
        </span>
      </td>
      <td class="number">{formatCount(row.calls)}</td>
      <td class="number">{formatCompact(row.input_tokens)}</td>
      <td class="number">{formatCompact(row.cached_input_tokens)}</td>
      <td class="number">{formatCompact(row.output_tokens)}</td>
      <td class="number">{formatCost(row.cost_usd)}</td>
    </tr>
  );
}

/** Leads to the decisions that belong to the model calls of a row. */
export function DecisionsLink({ name, href }: { name: string; href: string }) {
  return (
    <a class="usage-models" href={href} aria-label={`Decisions of ${nameOf(name)}`}>
      Decisions
    </a>
  );
}

function nameOf(name: string): string {
  return name === '' ? 'those without a value' : inertText(name);
}

/** Leads to the same page, filtered for one row. */
export function OnlyLink({ name, href }: { name: string; href: string }) {
  return (
    <a class="filter-to" href={href} aria-label={`Only ${nameOf(name)}`} title="Only this one">
      <Icon name="filter" />
    </a>
  );
}
