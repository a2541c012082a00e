import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/api-error.ts';
import type { Answer, Call, Name } from '../api/call.ts';
import { request } from '../api/request.ts';
import { type Loaded, useAnswer } from '../api/use-answer.ts';
import { FormError } from './form-error.tsx';
import { useAction, useSignal } from './use-action.ts';

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
export function useList<N extends Name>(
  pageOf: (cursor?: string) => Call<N>,
  options?: { refreshMs: number },
): List<N> {
  const first = useAnswer(pageOf(), options);
  const { path } = pageOf();
  const [loaded, setLoaded] = useState<{ path: string; pages: Page<N>[] }>({ path: '', pages: [] });
  const start = useMemo(() => (first.data === undefined ? NONE : [first.data as Page<N>]), [first.data]);
  const hasOlder = loaded.path === path && start.length > 0;
  const pages = hasOlder ? loaded.pages : start;
  const items = useMemo(() => pages.flatMap((page) => page.items) as Items<N>, [pages]);
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const signal = useSignal(path);
  const asked = useRef(path);
  const {
    run,
    isRunning,
    error: fault,
  } = useAction(async (from: Page<N>[] = pages, count: number = pages.length + 1) => {
    asked.current = path;
    const read = [...from];
    for (let next = read.at(-1)?.next_cursor; next && read.length < count; next = read.at(-1)?.next_cursor)
      read.push((await request(pageOf(next), { signal })) as Page<N>);
    setLoaded({ path, pages: read });
  });
  // Not that of another list.
  const error = asked.current === path ? fault : undefined;
  useEffect(() => {
    // Each page begins where the previous one ends, so a changed first page moves them all.
    if (hasOlder && loaded.pages[0] !== start[0]) void run(start, loaded.pages.length);
  }, [start, loaded]);
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
