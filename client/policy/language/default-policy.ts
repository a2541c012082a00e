export type ManifestTool = { name: string; annotations?: { readOnlyHint?: boolean | undefined } | undefined };

export type AgentManifest = { name: string; tools: readonly (ManifestTool | string)[] };

/**
 * The policy of an agent that nobody has written one for: whoever is no admin reads freely and asks for
 * everything else. Names are written as JSON strings, which YAML reads as they are.
 */
export function defaultPolicy({ name, tools }: AgentManifest): string {
  const all = uniqueTools(tools);
  const readOnly = all.filter((tool) => tool.isReadOnly).map((tool) => tool.name);
  const others = all.filter((tool) => !tool.isReadOnly).map((tool) => tool.name);
  return [
    'version: 1',
    `agent: ${JSON.stringify(name)}`,
    `tools: ${flowList(all.map((tool) => tool.name))}`,
    'roles:',
    '  admin: {allow: ["*"]}',
    `  "*":   {allow: ${flowList(readOnly)}, approve: ${flowList(others)}}`,
    'rules: []',
    '',
  ].join('\n');
}

function flowList(names: string[]): string {
  return `[${names.map((name) => JSON.stringify(name)).join(', ')}]`;
}

/** In the order of the manifest. A tool mentioned twice only reads where every mention says so. */
function uniqueTools(tools: AgentManifest['tools']): { name: string; isReadOnly: boolean }[] {
  const byName = new Map<string, boolean>();
  for (const tool of tools) {
    const { name, annotations } = typeof tool === 'string' ? { name: tool } : tool;
    byName.set(name, (byName.get(name) ?? true) && annotations?.readOnlyHint === true);
  }
  return [...byName].map(([name, isReadOnly]) => ({ name, isReadOnly }));
}
