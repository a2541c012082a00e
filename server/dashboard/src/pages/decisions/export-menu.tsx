import { apiPath } from '../../api/paths.ts';
import { Icon } from '../../ui/icon.tsx';

/** All rows that match, not only those loaded: the service streams them. */
export function ExportMenu({ projectId, query }: { projectId: string; query: URLSearchParams }) {
  const hrefOf = (format: string) => {
    const exported = new URLSearchParams(query);
    exported.set('format', format);
    return apiPath.export(projectId, exported);
  };
  return (
    <details class="menu">
      <summary class="button">
        <Icon name="download" /> Export
      </summary>
      <div class="menu-items">
        <a href={hrefOf('ndjson')} download="decisions.ndjson">
          NDJSON <span class="muted">one record a line</span>
        </a>
        <a href={hrefOf('csv')} download="decisions.csv">
          CSV <span class="muted">for spreadsheets</span>
        </a>
      </div>
    </details>
  );
}
