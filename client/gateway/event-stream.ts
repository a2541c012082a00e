/** An event of a server-sent event stream (HTML Standard, "Server-sent events"). */
export type StreamEvent = { id: string | undefined; type: string; data: string };

/** Calls back with every event that has data, until the stream ends. Rejects when it breaks. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  let isAfterReturn = false;
  let data: string[] = [];
  let type = '';
  let id: string | undefined;
  const take = (line: string): void => {
    if (line === '') {
      if (data.length > 0) onEvent({ id, type: type || 'message', data: data.join('\n') });
      [data, type] = [[], ''];
      return;
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id') id = value;
  };
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // A line feed after a carriage return ends the same line, also in the next chunk.
    const lines = (isAfterReturn ? text.replace(/^\n/, '') : text).split(/\r\n|\n|\r/);
    isAfterReturn = text.endsWith('\r');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      take(rest + line);
      rest = '';
    }
    rest += last;
  }
}
