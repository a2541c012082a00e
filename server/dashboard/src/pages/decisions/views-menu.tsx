import { useState } from 'preact/hooks';
import { recall, remember } from '../../app/remembered.ts';
import { projectPath } from '../../app/route.ts';
import { Icon } from '../../ui/icon.tsx';
import { Inert } from '../../ui/inert.tsx';
import { Menu } from '../../ui/menu.tsx';
import { type Columns, columnsFrom } from './decision-columns.tsx';
import { savedViews, type View } from './saved-views.ts';

const NAME_CHARS_MAX = 60;

/** Named periods, filters, searches and columns of the list, kept in this browser. */
export function ViewsMenu({ projectId, columns }: { projectId: string; columns: Columns }) {
  const key = `views.${projectId}` as const;
  const [views, setViews] = useState(() => savedViews(recall(key)));
  const [name, setName] = useState('');
  const viewOf = (given: string) => ({
    name: given.trim(),
    query: location.search,
    columns: columns.names.join(),
  });
  const show = (view: View) => {
    if (view.columns !== undefined) columns.choose(columnsFrom(view.columns));
  };
  // Based on what is currently stored: another tab may have saved or deleted views.
  const change = (of: (stored: View[]) => View[]) => {
    const next = of(savedViews(recall(key)));
    remember(key, next.length === 0 ? undefined : JSON.stringify(next));
    setViews(next);
  };
  const list = projectPath(projectId, 'decisions');
  return (
    <Menu kind="menu-end views-menu" label="Saved views" summary="Views">
      {(close) => (
        <>
          <ul>
            {views.map((view) => (
              <li key={view.name}>
                <a
                  href={`${list}${view.query}`}
                  onClick={() => {
                    close();
                    show(view);
                  }}
                >
                  <Inert text={view.name} />
                </a>
                <button
                  type="button"
                  class="ghost icon-button"
                  aria-label={`Delete the view ${view.name}`}
                  title="Delete"
                  onClick={() => change((stored) => stored.filter((other) => other.name !== view.name))}
                >
                  <Icon name="close" />
                </button>
              </li>
            ))}
          </ul>
          {views.length === 0 && <p class="muted">None saved in this browser yet.</p>}
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (name.trim() === '') return;
              const added = viewOf(name);
              change((stored) => [...stored.filter((view) => view.name !== added.name), added]);
              setName('');
            }}
          >
            <input
              aria-label="Name of this view"
              placeholder="Name of this view"
              maxLength={NAME_CHARS_MAX}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
              required
            />
            <button type="submit">Save view</button>
          </form>
        </>
      )}
    </Menu>
  );
}
