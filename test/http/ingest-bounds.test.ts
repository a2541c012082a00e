import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { accepted, invalid, outcomeOf, readDecisions, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';

/** Longest allowed text of each field in Unicode code points. */
const POINTS_MAX = {
  agent_name: 200,
  tool_name: 200,
  role: 100,
  error_type: 100,
  reason: 4000,
  user_id: 200,
  session_id: 200,
};
const ARGUMENTS_BYTES_MAX = 8192;
const HINT_BYTES_MAX = 4096;
/** One code point, two UTF-16 units, four bytes. */
const EMOJI = '😀';

/** An object that takes exactly this many bytes as JSON. */
function objectOf(bytes: number, fill = 'x'): { a: string } {
  const rest = bytes - Buffer.byteLength(JSON.stringify({ a: '' }));
  const size = Buffer.byteLength(fill);
  return { a: fill.repeat(Math.floor(rest / size)) + 'x'.repeat(rest % size) };
}

describe('the bounds of a decision', () => {
  const service = useSharedService();

  const send = async (overrides: Record<string, unknown>) =>
    outcomeOf(await sendDecision(service, decisionEvent(overrides)));

  for (const [field, points] of Object.entries(POINTS_MAX)) {
    it(`${field} may have ${points} code points, however many units and bytes they take`, async () => {
      const event = decisionEvent({ tool_name: randomUUID(), [field]: EMOJI.repeat(points) });

      expect(await outcomeOf(await sendDecision(service, event))).to.deep.equal(accepted);
      const { items } = await readDecisions(service, { tool: String(event['tool_name']) });
      expect(items.find(({ event_id }) => event_id === event['event_id'])?.[field]).to.equal(event[field]);
    });

    it(`${field} of ${points + 1} code points is 422`, async () => {
      expect(await send({ [field]: 'x'.repeat(points + 1) })).to.deep.equal(invalid);
      expect(await send({ [field]: EMOJI.repeat(points + 1) })).to.deep.equal(invalid);
    });
  }

  for (const field of ['agent_name', 'tool_name']) {
    it(`${field} may have one character`, async () => {
      expect(await send({ [field]: 'x' })).to.deep.equal(accepted);
    });

    it(`an empty ${field} is 422`, async () => {
      expect(await send({ [field]: '' })).to.deep.equal(invalid);
    });
  }

  it('violations may have 100 items of 1,000 code points', async () => {
    const session_id = randomUUID();
    const violations = Array.from({ length: 100 }, (_, i) => (i < 10 ? EMOJI.repeat(1000) : String(i)));

    expect(await send({ violations, session_id })).to.deep.equal(accepted);
    expect((await readDecisions(service, { session_id })).items[0]?.['violations']).to.deep.equal(violations);
  });

  it('violations of 101 items are 422', async () => {
    expect(await send({ violations: Array.from({ length: 101 }, String) })).to.deep.equal(invalid);
  });

  it('a violation of 1,001 code points is 422', async () => {
    expect(await send({ violations: ['x'.repeat(1001)] })).to.deep.equal(invalid);
    expect(await send({ violations: ['', EMOJI.repeat(1001)] })).to.deep.equal(invalid);
  });

  for (const [field, bytesMax] of Object.entries({ arguments: ARGUMENTS_BYTES_MAX, hint: HINT_BYTES_MAX })) {
    const tooLarge = { status: 413, code: `${field}_too_large` };

    it(`${field} may have ${bytesMax} bytes of JSON in UTF-8`, async () => {
      for (const fill of ['x', 'é', EMOJI]) {
        const session_id = randomUUID();
        const value = objectOf(bytesMax, fill);

        expect(await send({ session_id, [field]: value })).to.deep.equal(accepted);
        expect((await readDecisions(service, { session_id })).items[0]?.[field]).to.deep.equal(value);
      }
    });

    it(`${field} of ${bytesMax + 1} bytes of JSON in UTF-8 is 413`, async () => {
      for (const fill of ['x', 'é', EMOJI]) {
        expect(await send({ [field]: objectOf(bytesMax + 1, fill) }), fill).to.deep.equal(tooLarge);
      }
    });

    it(`${field} is measured as JSON.stringify writes it, not as it was sent`, async () => {
      const value = objectOf(bytesMax);
      const spread = JSON.stringify(decisionEvent({ [field]: 0 })).replace(`"${field}":0`, () => {
        const escaped = value.a.replaceAll('x', '\\u0078');
        return `"${field}"  :  {\n\n  "\\u0061"  :  "${escaped}"  }`;
      });
      // JSON.stringify writes \ud800 as six bytes and " as two.
      const escaping = { a: `${'"'.repeat((bytesMax - 8) / 2)}x` };

      expect(await outcomeOf(await sendDecision(service, spread))).to.deep.equal(accepted);
      expect(Buffer.byteLength(JSON.stringify(escaping))).to.equal(bytesMax + 1);
      expect(await send({ [field]: escaping })).to.deep.equal(tooLarge);
    });
  }
});
