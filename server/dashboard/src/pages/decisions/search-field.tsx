import { useEffect, useRef } from 'preact/hooks';
import { hrefWith, navigate } from '../../app/location.ts';

const CHARS_MAX = 200;

/** Searches reasons and arguments. The address bar holds the text. */
export function SearchField({ value, path }: { value: string | undefined; path: string }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The search changed elsewhere, for example by Back. A new input would lose the focus.
    if (input.current !== null) input.current.value = value ?? '';
  }, [value]);
  const apply = (text: string) => {
    const given = text === '' ? undefined : text;
    if (given !== value) navigate(hrefWith({ q: given }, path), { staysPut: true });
  };
  return (
    <input
      ref={input}
      class={value === undefined ? 'search-field' : 'search-field search-on'}
      type="search"
      aria-label="Search reasons and arguments"
      placeholder="Search reasons and arguments"
      spellcheck={false}
      maxLength={CHARS_MAX}
      defaultValue={value ?? ''}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply(event.currentTarget.value);
      }}
      onChange={({ currentTarget }) => apply(currentTarget.value)}
    />
  );
}
