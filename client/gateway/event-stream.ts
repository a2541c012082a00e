import { LINE_BYTES_MAX } from './lines.ts';

/** An event of a server-sent event stream (HTML Standard, "Server-sent events"). */
export type StreamEvent = { type: string; data: string };

/** Where a reopened stream continues, and how long the server wants a client to wait before reopening it. */
export type StreamPosition = { lastId?: string | undefined; retryMs?: number | undefined };

export class EventTooLarge extends Error {}

/**
 * Calls back with every event that has data, and keeps the position up to date, until the stream ends. Rejects if it breaks, and with
 * EventTooLarge.
 */
export async function readEvents(
  body: AsyncIterable<Uint8Array>,
  position: StreamPosition,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  let isAfterReturn = false;
  let data: string[] = [];
  let length = 0;
  let type = '';
  let id = position.lastId;
  const take = (line: string): void => {
    if (line === '') {
      position.lastId = id;
      if (data.length > 0) onEvent({ type: type || 'message', data: data.join('\n') });
      [data, length, type] = [[], 0, ''];
      return;
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') [length] = [length + value.length, data.push(value)];
    else if (name === 'event') type = value;
    else if (name === 'id') id = value || undefined;
    else if (name === 'retry' && /^\d+$/.test(value)) position.retryMs = Number(value);
  };
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // A line feed after a carriage return ends the same line, even in the next chunk.
    const lines = (isAfterReturn ? text.replace(/^\n/, '') : text).split(/\r\n|\n|\r/);
    isAfterReturn = text.endsWith('\r');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      take(rest + line);
      rest = '';
    }
    rest += last;
    if (length + rest.length > LINE_BYTES_MAX)
      throw new EventTooLarge(`an event has more than ${LINE_BYTES_MAX} characters`);
  }
}
