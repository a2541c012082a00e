import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { accepted, invalid, outcomeOf, readDecisions, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';

/** A decision whose hint or arguments are exactly this text. */
function eventWith(texts: Record<string, string>, overrides: Record<string, unknown> = {}): string {
  const fields = Object.entries(decisionEvent(overrides))
    .filter(([name]) => texts[name] === undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${[...Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}:${text}`), ...fields].join(',')}}`;
}

function nested(depth: number, heart = ''): string {
  return `${'['.repeat(depth)}${heart}${']'.repeat(depth)}`;
}

describe('JSON in hint and arguments', () => {
  const service = useSharedService();

  /** The answer of the detail endpoint as text, for one session. */
  async function textOf(session_id: string): Promise<string> {
    const query = new URLSearchParams({ session_id });
    return (
      await fetch(`${service.url}/v1/projects/${service.project_id}/audit/decisions?${query.toString()}`)
    ).text();
  }

  async function isKept(text: string): Promise<void> {
    for (const field of ['arguments', 'hint']) {
      const session_id = randomUUID();
      const outcome = await outcomeOf(
        await sendDecision(service, eventWith({ [field]: text }, { session_id })),
      );
      expect(outcome, text).to.deep.equal(accepted);
      expect(await textOf(session_id)).to.contain(`"${field}":${text}`);
    }
  }

  it('keeps numbers digit for digit', async () => {
    await isKept('{"a":9007199254740993,"b":1e400,"c":0.10,"d":-0,"e":1E5}');
    await isKept(
      '{"f":[1.0,-0.0,1e-7,1E+2,-1e400,123456789012345678901234567890],"g":{"h":[[9007199254740993]]}}',
    );
    await isKept('{"i":0.1000000000000000055511151231257827,"j":[0,-1,3.14,5e-324,-9223372036854775809]}');
    await isKept('{"a":-0}');
    await isKept('{"a":1E5}');
    await isKept('{"a":[0,1e5]}');
  });

  it('keeps numbers digit for digit when space and line ends surround them', async () => {
    const session_id = randomUUID();
    const spaced = '{ "a" :\r\n\t9007199254740993 , "b" : [ \n 0.10 ,\n-0 ] }';

    await sendDecision(service, eventWith({ arguments: spaced, hint: spaced }, { session_id }));

    expect(await textOf(session_id)).to.contain('"arguments":{"a":9007199254740993,"b":[0.10,-0]}');
    expect(await textOf(session_id)).to.contain('"hint":{"a":9007199254740993,"b":[0.10,-0]}');
  });

  it('keeps text that only looks like numbers', async () => {
    await isKept('{"a":"[9007199254740993, 1e400]","b":":-0","c":"0.10","9007199254740993":"1e5"}');
    await isKept('{"a":"\\":-0","b":0.10,"c":"\\\\","d":":1E5"}');
  });

  it('keeps NUL characters and lone surrogates', async () => {
    const value = {
      'k\0': 'v\0\0',
      '\ud800': '\udfff',
      pair: '\ud83d\ude00',
      list: ['\0', 'a\udc00b', '\u2028\u007f'],
    };
    for (const extra of ['', ',"n":0.10']) {
      const session_id = randomUUID();
      const text = `${JSON.stringify(value).slice(0, -1)}${extra}}`;

      await sendDecision(service, eventWith({ arguments: text, hint: text }, { session_id }));

      const { items } = await readDecisions(service, { session_id });
      const whole = extra === '' ? value : { ...value, n: 0.1 };
      expect([items[0]?.['arguments'], items[0]?.['hint']]).to.deep.equal([whole, whole]);
    }
  });

  it('keeps keys with a meaning in JavaScript', async () => {
    await isKept(
      '{"__proto__":{"role":"x"},"constructor":{"prototype":{"a":1}},"toString":null,"hasOwnProperty":[]}',
    );
    await isKept('{"__proto__":{"n":0.10},"constructor":{"__proto__":[1E5]},"toJSON":1,"rawJSON":"1"}');
    await isKept('{"__proto__":null}');
    await isKept('{"":{"":0.0}}');
  });

  it('distinguishes an empty object from null', async () => {
    await isKept('{}');
    await isKept('null');
  });

  it('keeps deeply nested values', async () => {
    const session_id = randomUUID();
    const text = `{"a":${nested(2000)}}`;

    const plain = await outcomeOf(
      await sendDecision(service, eventWith({ arguments: `{"a":${nested(4000)}}` })),
    );
    const exact = await outcomeOf(
      await sendDecision(service, eventWith({ arguments: `{"a":${nested(4000, '0.10')}}` })),
    );
    await sendDecision(service, eventWith({ arguments: text, hint: text }, { session_id }));

    expect([plain, exact]).to.deep.equal([accepted, accepted]);
    expect(await textOf(session_id))
      .to.contain(`"arguments":${text}`)
      .and.contain(`"hint":${text}`);
  });
});

describe('JSON around hint and arguments', () => {
  const service = useSharedService();

  it('answers 422 to a NUL character or a lone surrogate in a text field', async () => {
    const fields = [
      'agent_name',
      'tool_name',
      'role',
      'error_type',
      'reason',
      'user_id',
      'session_id',
      'violations',
    ];
    for (const field of fields) {
      for (const text of ['a\0b', '\0', 'a\ud800', '\udc00b', '\ude00\ud83d']) {
        const event = decisionEvent({ [field]: field === 'violations' ? ['fine', text] : text });

        const outcome = await outcomeOf(await sendDecision(service, event));

        expect(outcome, `${field} ${JSON.stringify(text)}`).to.deep.equal(invalid);
      }
    }
  });

  it('keeps every other character of a text field', async () => {
    const session_id = randomUUID();
    const text = '\u0001\u001f\u007f\u0080\u2028\ufeff\ufffd\uffff😀"\\/\b\f\n\r\t\'`${}\u202e';

    await sendDecision(service, decisionEvent({ session_id, role: text, reason: text, violations: [text] }));

    const { items } = await readDecisions(service, { session_id });
    expect(items[0]).to.deep.include({ role: text, reason: text, violations: [text] });
  });

  it('ignores fields below __proto__', async () => {
    const event = decisionEvent({ outcome: undefined });
    const body = `{"__proto__":{"outcome":"deny"},"constructor":{"outcome":"deny"},${JSON.stringify(event).slice(1)}`;

    expect(await outcomeOf(await sendDecision(service, body))).to.deep.equal(invalid);
  });

  it('ignores __proto__ and constructor next to a whole event', async () => {
    const session_id = randomUUID();
    const body = `{"__proto__":{"role":"admin"},"constructor":1,${JSON.stringify(decisionEvent({ session_id, role: undefined })).slice(1)}`;

    expect(await outcomeOf(await sendDecision(service, body))).to.deep.equal(accepted);
    expect((await readDecisions(service, { session_id })).items[0]?.['role']).to.equal('');
    expect((await readDecisions(service, { session_id: randomUUID() })).total).to.equal(0);
  });

  it('returns 422 for malformed JSON and for JSON that is not an object', async () => {
    const whole = JSON.stringify(decisionEvent());
    const broken = [
      '',
      ' ',
      '{',
      '}',
      'nul',
      'undefined',
      whole.slice(0, -1),
      `${whole}}`,
      `${whole}${whole}`,
      whole.replaceAll('"', "'"),
    ];
    const noObject = ['null', 'true', '0', '"text"', '[]', `[${whole}]`, JSON.stringify(whole)];
    const notJson = [
      '{"a":01}',
      '{"a":.5}',
      '{"a":NaN}',
      '{"a":1,}',
      '{"a":"\n"}',
      '{"a":"\\x41"}',
      '//\n{}',
    ];
    for (const body of [...broken, ...noObject, ...notJson]) {
      expect(await outcomeOf(await sendDecision(service, body)), body).to.deep.equal(invalid);
    }
  });

  it('ignores deep nesting under an unknown key', async () => {
    for (const heart of ['', '0.10']) {
      const body = eventWith({ unknown: nested(30_000, heart) });

      expect(await outcomeOf(await sendDecision(service, body)), heart).to.deep.equal(accepted);
    }
  });
});
