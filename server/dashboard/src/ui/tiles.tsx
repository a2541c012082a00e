import type { ComponentChildren } from 'preact';

type TileWords = readonly [label: string, value: string, note: ComponentChildren, exact?: string];

/** Numbers side by side, without links. */
export function Tiles({ tiles }: { tiles: readonly TileWords[] }) {
  return (
    <div class="tiles">
      {tiles.map(([label, value, note, exact]) => (
        <div key={label} class="tile">
          <span class="tile-label">{label}</span>
          <span class="tile-value" title={exact}>
            {value}
          </span>
          <span class="tile-note">{note}</span>
        </div>
      ))}
    </div>
  );
}
