import { expect } from 'chai';
import {
  EventTooLarge,
  readEvents,
  type StreamEvent,
  type StreamPosition,
} from '../../../client/gateway/event-stream.ts';

const EXPECTED: StreamEvent[] = [
  { type: 'message', data: '{"a":"ü"}' },
  { type: 'ping', data: 'two\nlines' },
  { type: 'message', data: ':colon' },
];

async function eventsOf(
  bytes: Uint8Array,
  chunkLength: number,
  position: StreamPosition = {},
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkLength) }, (_, index) =>
    bytes.subarray(index * chunkLength, (index + 1) * chunkLength),
  );
  await readEvents(ReadableStream.from(chunks), position, (event) => void events.push(event));
  return events;
}

describe('a stream of events', () => {
  for (const [name, newline] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
    it(`with a byte order mark and lines that end in ${name} is read the same in pieces of any length`, async () => {
      const lines = [
        '\uFEFFdata: {"a":"ü"}', ': a comment', '', 'event: ping', 'id: 7', 'retry: 5', 'data:two', 'data: lines', '',
        'event: nothing', 'id: 8', '', 'data: :colon', '', 'retry: soon', '', 'id: 9', 'data: cut off',
      ]; // prettier-ignore
      const bytes = new TextEncoder().encode(lines.join(newline));

      for (let length = 1; length <= bytes.length; length += 1) {
        const position = {};
        expect(await eventsOf(bytes, length, position), `${length}`).to.deep.equal(EXPECTED);
        expect(position).to.deep.equal({ lastId: '8', retryMs: 5 });
      }
    });
  }

  it('may end in the carriage return that ends its last event', async () => {
    const bytes = new TextEncoder().encode('data: last\r\r');

    expect(await eventsOf(bytes, 3)).to.deep.equal([{ type: 'message', data: 'last' }]);
  });

  it('with an event of 4 MiB in pieces of 1 KiB is read in 2 s of processor time', async () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(4 * 1024 * 1024)}\n\n`);
    const before = process.cpuUsage();
    const [event] = await eventsOf(bytes, 1024);

    expect(event?.data).to.have.length(4 * 1024 * 1024);
    expect(process.cpuUsage(before).user / 1_000_000).to.be.below(2);
  });

  for (const newline of ['', '\ndata: '])
    it(`with an event of more than 64 MiB${newline && ' in many lines'} ends in an error`, async () => {
      const piece = Buffer.from(`${newline}${'x'.repeat(1024 * 1024)}`);
      let pieces = 0;
      async function* endless() {
        for (yield Buffer.from('data: '); ; pieces += 1) yield piece;
      }
      const fault: unknown = await readEvents(endless(), {}, () => undefined).catch(
        (error: unknown) => error,
      );

      expect(fault).to.be.instanceOf(EventTooLarge);
      expect(pieces).to.be.within(63, 65);
    });
});
