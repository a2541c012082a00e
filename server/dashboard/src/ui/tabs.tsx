import { hrefWith, usePlace } from '../app/location.ts';

type TabsProps<Name extends string> = {
  label: string;
  names: Record<Name, string>;
  current: Name;
  first: Name;
};

/** The views of a page. The address bar holds the current one. */
export function Tabs<Name extends string>({ label, names, current, first }: TabsProps<Name>) {
  usePlace();
  return (
    <nav class="tabs" aria-label={label}>
      {Object.entries<string>(names).map(([name, words]) => (
        <a
          key={name}
          href={hrefWith({
            tab: name === first ? undefined : name,
            from: undefined,
            to: undefined,
            part: undefined,
            line: undefined,
          })}
          aria-current={name === current ? 'page' : undefined}
        >
          {words}
        </a>
      ))}
    </nav>
  );
}
