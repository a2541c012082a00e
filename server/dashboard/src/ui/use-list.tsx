import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ApiError } from '../api/api-error.ts';
import type { Answer, Call, Name } from '../api/call.ts';
import { request } from '../api/request.ts';
import { type Loaded, useAnswer } from '../api/use-answer.ts';
import { FormError } from './form-error.tsx';
import { useAction } from './use-action.ts';

type Items<N extends Name> = Answer<N> extends { items: infer I extends unknown[] } ? I : never;
type Page<N extends Name> = { items: Items<N>; next_cursor: string | null };
type List<N extends Name> = {
  first: Loaded<N>;
  items: Items<N>;
  /** The next page, unless there is none. */
  next: { load: () => Promise<void>; isLoading: boolean; error: ApiError | undefined } | undefined;
  /** A button that loads it. */
  more: ComponentChildren;
};

const NONE: never[] = [];

/** A list with a button that loads older items, of an endpoint that answers page by page. */
export function useList<N extends Name>(pageOf: (cursor?: string) => Call<N>): List<N> {
  const first = useAnswer(pageOf());
  const [older, setOlder] = useState<{ after: unknown; pages: Answer<N>[] }>({ after: undefined, pages: [] });
  // A changed first page begins a new list.
  const later = older.after === first.data ? older.pages : NONE;
  const pages = useMemo(() => [first.data, ...later] as (Page<N> | undefined)[], [first.data, later]);
  const items = useMemo(() => pages.flatMap((page) => page?.items ?? []) as Items<N>, [pages]);
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const { run, isRunning, error } = useAction(async () => {
    if (cursor === null) return;
    const page = await request(pageOf(cursor));
    setOlder({ after: first.data, pages: [...later, page] });
  });
  const more = (
    <>
      <FormError error={error} />
      {cursor !== null && (
        <p>
          <button type="button" aria-busy={isRunning} onClick={() => void run()}>
            Load older
          </button>
        </p>
      )}
    </>
  );
  const next = cursor === null ? undefined : { load: run, isLoading: isRunning, error };
  return { first, items, next, more };
}
