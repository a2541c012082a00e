import { auditOf } from '../../api/call.ts';
import { datedPath } from '../../api/relative-period.ts';
import { request } from '../../api/request.ts';
import type { QueryValues } from '../../app/route.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { useAction, useSignal } from '../../ui/use-action.ts';

type ExportMenuProps = { projectId: string; query: QueryValues };

/** Exports all matching rows, not only the loaded ones. */
export function ExportMenu(props: ExportMenuProps) {
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
      {(close) => <Formats {...props} close={close} />}
    </Menu>
  );
}

function Formats({ projectId, query, close }: ExportMenuProps & { close: () => void }) {
  const signal = useSignal();
  const { run, isRunning, error } = useAction(async (link: HTMLAnchorElement) => {
    // A browser does not report a refused download. This read would be refused as well.
    await request(auditOf(projectId, 'decisions', { ...query, limit: 1 }), { signal });
    (link.cloneNode() as HTMLAnchorElement).click();
    close();
  });
  const linkOf = (format: 'ndjson' | 'csv') => ({
    href: datedPath(auditOf(projectId, 'decisions/export', { ...query, format }).path),
    download: `decisions.${format}`,
    'aria-busy': isRunning,
    onClick: (event: MouseEvent) => {
      event.preventDefault();
      void run(event.currentTarget as HTMLAnchorElement);
    },
  });
  return (
    <>
      <a {...linkOf('ndjson')}>
        NDJSON <span class="muted">one record per line</span>
      </a>
      <a {...linkOf('csv')}>
        CSV <span class="muted">for spreadsheets</span>
      </a>
      <FormError error={error} />
    </>
  );
}
