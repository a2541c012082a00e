import { hrefWith, usePlace } from '../app/location.ts';

type TabsProps<Name extends string> = {
  label: string;
  names: Record<Name, string>;
  current: Name;
  first: Name;
};

/** Views of one page; which one is shown is in the address bar. */
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
          })}
          aria-current={name === current ? 'page' : undefined}
        >
          {words}
        </a>
      ))}
    </nav>
  );
}
