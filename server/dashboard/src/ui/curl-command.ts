/** A curl that posts a body, already quoted for the shell, with the key in GATE_API_KEY. */
export function curlCommand(path: string, quotedBody: string): string {
  return [
    `curl -sS -X POST ${location.origin}${path} \\`,
    `  -H "Authorization: Bearer $GATE_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quotedBody}`,
  ].join('\n');
}

/** The same for an event. The shell creates a new UUID and the time on each run, on Linux and macOS. */
export function curlEvent(path: string, fields: object): string {
  const event = {
    event_id: '$(cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen)',
    occurred_at: '$(date -u +%Y-%m-%dT%H:%M:%SZ)',
    ...fields,
  };
  return curlCommand(
    path,
    `"${JSON.stringify(event).replaceAll(',"', ',\n       "').replaceAll('"', '\\"')}"`,
  );
}

/** A curl that reads from the API, with the key in GATE_API_KEY. */
export function curlRead(path: string): string {
  const url = `${location.origin}${path}`.replaceAll("'", '%27');
  return `curl -sS '${url}' \\\n  -H "Authorization: Bearer $GATE_API_KEY"`;
}
