import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, Call, Name } from '../api/call.ts';
import { request } from '../api/request.ts';
import { type Loaded, useAnswer } from '../api/use-answer.ts';
import { FormError } from './form-error.tsx';
import { useAction } from './use-action.ts';

type Items<N extends Name> = Answer<N> extends { items: infer I extends unknown[] } ? I : never;
type List<N extends Name> = {
  first: Loaded<N>;
  items: Items<N>;
  /** Loads the next page; nothing where there is none. */
  more: ComponentChildren;
};

/** A list with a button that loads older items, of an endpoint that answers page by page. */
export function useList<N extends Name>(pageOf: (cursor?: string) => Call<N>): List<N> {
  const first = useAnswer(pageOf());
  const [older, setOlder] = useState<Answer<N>[]>([]);
  const pages = [first.data, ...older] as ({ items: Items<N>; next_cursor: string | null } | undefined)[];
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const { run, isRunning, error } = useAction(async () => {
    const page = await request(pageOf(cursor ?? ''));
    setOlder([...older, page]);
  });
  const items = pages.flatMap((page) => page?.items ?? []) as Items<N>;
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
  return { first, items, more };
}
