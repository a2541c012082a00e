import { POLICY_TEXT_BYTES_MAX } from './limits.ts';
import { utf8Length } from './utf8.ts';

type ManifestTool = { name: string; annotations?: { readOnlyHint?: boolean | undefined } | undefined };

type AgentManifest = { name: string; tools: readonly (ManifestTool | string)[] };

/**
 * The policy of an agent that has none: the role admin may use every tool; any other role may use read-only tools and needs approval for
 * the rest. Names are written as JSON strings, which are valid YAML.
 */
export function defaultPolicy({ name, tools }: AgentManifest): string {
  const all = uniqueTools(tools);
  const names = all.map((tool) => tool.name);
  const readOnly = all.filter((tool) => tool.isReadOnly).map((tool) => tool.name);
  const others = all.filter((tool) => !tool.isReadOnly).map((tool) => tool.name);
  // A large manifest gets the first shorter form that fits. The second form means the same as the first, because approve overrides allow;
  // the last one asks for approval of read-only tools as well.
  const forms = [
    { tools: flowList(names), allow: flowList(readOnly), approve: flowList(others) },
    { tools: flowList(names), allow: '["*"]', approve: flowList(others) },
    { tools: flowList(names, shortestQuoted), allow: '[]', approve: '["*"]' },
  ].map((form) =>
    [
      'version: 1',
      `agent: ${JSON.stringify(name)}`,
      `tools: ${form.tools}`,
      'roles:',
      '  admin: {allow: ["*"]}',
      `  "*":   {allow: ${form.allow}, approve: ${form.approve}}`,
      'rules: []',
      '',
    ].join('\n'),
  );
  return forms.find((text) => utf8Length(text) <= POLICY_TEXT_BYTES_MAX) ?? '';
}

function flowList(names: string[], quoted: (name: string) => string = JSON.stringify): string {
  return `[${names.map((name) => quoted(name)).join(', ')}]`;
}

/** A JSON string, or a single-quoted YAML string if that is shorter. */
function shortestQuoted(name: string): string {
  const single = `'${name.replaceAll("'", "''")}'`;
  const double = JSON.stringify(name);
  return single.length < double.length ? single : double;
}

/** In the order of the manifest. A tool that is listed twice is read-only if every entry says so. */
function uniqueTools(tools: AgentManifest['tools']): { name: string; isReadOnly: boolean }[] {
  const byName = new Map<string, boolean>();
  for (const tool of tools) {
    const { name, annotations } = typeof tool === 'string' ? { name: tool } : tool;
    byName.set(name, (byName.get(name) ?? true) && annotations?.readOnlyHint === true);
  }
  return [...byName].map(([name, isReadOnly]) => ({ name, isReadOnly }));
}
