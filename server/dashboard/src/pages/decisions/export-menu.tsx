import { auditOf } from '../../api/call.ts';
import { datedPath } from '../../api/relative-period.ts';
import type { QueryValues } from '../../app/route.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';

type ExportMenuProps = { projectId: string; query: QueryValues };

/** Exports all matching rows, not only the loaded ones. */
export function ExportMenu({ projectId, query }: ExportMenuProps) {
  const hrefOf = (format: 'ndjson' | 'csv') =>
    datedPath(auditOf(projectId, 'decisions/export', { ...query, format }).path);
  return (
    <Menu
      kind="menu-end"
      label="Export"
      summary={
        <>
          <Icon name="download" /> Export
        </>
      }
    >
      {(close) => (
        <>
          <a href={hrefOf('ndjson')} download="decisions.ndjson" onClick={close}>
            NDJSON <span class="muted">one record per line</span>
          </a>
          <a href={hrefOf('csv')} download="decisions.csv" onClick={close}>
            CSV <span class="muted">for spreadsheets</span>
          </a>
        </>
      )}
    </Menu>
  );
}
