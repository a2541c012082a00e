/**
 * A copy of the tool with other functions. Inherited members, such as those of a class instance, are read from the tool itself and called
 * on it, because a proxy has no private members.
 */
export function overridden<Tool extends object>(tool: Tool, functions: Partial<Tool>): Tool {
  const own = { ...tool, ...functions };
  return new Proxy(own, {
    get: (_, key): unknown => {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key);
      const inherited: unknown = Reflect.get(tool, key);
      if (typeof inherited !== 'function') return inherited;
      // Not bound, because a schema may be a function with properties.
      return new Proxy(inherited, { apply: (method, _this, args) => Reflect.apply(method, tool, args) });
    },
    has: (_, key) => key in own || key in tool,
  });
}
