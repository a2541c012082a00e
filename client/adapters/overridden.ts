/** A copy of the tool with other functions. What it inherits, as an instance of a class does, is read from the tool itself. */
export function overridden<Tool extends object>(tool: Tool, functions: Partial<Tool>): Tool {
  const own = { ...tool, ...functions };
  return new Proxy(own, {
    get: (_, key): unknown => Reflect.get(Object.hasOwn(own, key) ? own : tool, key),
    has: (_, key) => key in own || key in tool,
  });
}
