import { expect } from 'chai';
import { chanceOf } from '../../../server/alerts/fisher.ts';
import {
  findDenials,
  findNewNames,
  findSilence,
  type ToolCounts,
  type ToolHistory,
} from '../../../server/alerts/rules.ts';
import { DAY_MS, HOUR_MS } from '../../../server/durations.ts';

const NOW = Date.UTC(2026, 5, 10, 12, 30);
const MINUTE = 60_000;

type Given = { agent?: string; tool?: string; total: number; denied?: number };

const countsOf = ({ agent = 'clerk', tool = 'pay', total, denied = 0 }: Given): ToolCounts => {
  const share = { total, denied };
  const times = { firstMs: NOW - 2 * MINUTE, lastMs: NOW - 1 };
  return {
    agent_name: agent,
    tool_name: tool,
    minute: { total: 0, denied: 0 },
    short: share,
    long: share,
    ...times,
  };
};
const historyOf = ({ agent = 'clerk', tool = 'pay', total, denied = 0 }: Given, days = 30): ToolHistory => ({
  agent_name: agent,
  tool_name: tool,
  total,
  denied,
  firstMs: NOW - days * DAY_MS,
});
const namesOf = (findings: { agent_name: string; tool_name: string }[]) =>
  findings.map(({ agent_name, tool_name }) => `${agent_name}/${tool_name}`);

describe('the exact test of denial shares', () => {
  // R: fisher.test(matrix(c(3, 1, 1, 3), 2), alternative = "greater") and the tea of Fisher's lady.
  for (const [now, before, chance] of [
    [{ total: 4, denied: 3 }, { total: 4, denied: 1 }, 17 / 70],
    [{ total: 4, denied: 4 }, { total: 4, denied: 0 }, 1 / 70],
    [{ total: 10, denied: 5 }, { total: 10, denied: 0 }, 252 / 15_504],
    // The sums of the definition in whole numbers.
    [{ total: 10, denied: 5 }, { total: 10, denied: 1 }, 0.070_433_436_532],
    [{ total: 40, denied: 12 }, { total: 1000, denied: 100 }, 0.000_559_981_665],
  ] as const)
    it(`gives ${chance.toFixed(4)} for ${now.denied} of ${now.total} after ${before.denied} of ${before.total}`, () => {
      expect(chanceOf(now, before)).to.be.closeTo(chance, 1e-9);
    });

  it('gives no result without a baseline', () => {
    expect(chanceOf({ total: 50, denied: 50 }, { total: 0, denied: 0 })).to.be.closeTo(1, 1e-9);
  });
});

describe('the rule of denials', () => {
  const find = (counts: ToolCounts[], history: ToolHistory[]) => findDenials(counts, history, NOW);
  const others = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...countsOf({ agent: index % 5 === 0 ? 'clerk' : 'other', tool: `t${index}`, total: 8 }),
      minute: { total: 1, denied: 0 },
    }));
  const before = (count: number) =>
    others(count).map(({ agent_name: agent, tool_name: tool }) =>
      historyOf({ agent, tool, total: 2016, denied: 60 }),
    );

  it('reports a spike of 0.1 % of the traffic of a busy project', () => {
    // 10,000 calls a minute of 20 agents with 5 tools each; one tool is denied 10 times in a minute.
    const pairs = Array.from({ length: 100 }, (_, index) => ({
      agent: `agent-${Math.floor(index / 5)}`,
      tool: `t${index}`,
    }));
    const history = pairs.map((pair) => historyOf({ ...pair, total: 1_000_000, denied: 20 }));
    const counts = pairs.map((pair) => countsOf({ ...pair, total: 500 }));
    const calm = find(counts, history);
    counts[42] = countsOf({ ...(pairs[42] as Given), total: 510, denied: 10 });

    expect(calm).to.deep.equal([]);
    expect(namesOf(find(counts, history))).to.deep.equal(['agent-8/t42']);
  });

  it('reports a spike of 0.1 % of the traffic of 100 projects, in one of them, after two minutes', () => {
    // 7,000 calls a minute in all: 1.4 of each of 50 tools of the project, of which 3 % are denied. The spike is 7 a minute.
    const pairs = Array.from({ length: 50 }, (_, index) => ({
      agent: `agent-${Math.floor(index / 5)}`,
      tool: `t${index}`,
    }));
    const history = pairs.map((pair) => historyOf({ ...pair, total: 14_112, denied: 423 }));
    const counts = pairs.map((pair) => countsOf({ ...pair, total: 7 }));
    counts[12] = countsOf({ ...(pairs[12] as Omit<Given, 'total'>), total: 21, denied: 14 });

    expect(namesOf(find(counts, history))).to.deep.equal(['agent-2/t12']);
  });

  it('reports that spike from its last minute alone, wherever in a minute it begins', () => {
    // It began a second before an evaluation, which saw one denial of it. The next one, 61 seconds later, must report it.
    const spike = { total: 8, denied: 7 };
    const counts = {
      ...countsOf(spike),
      minute: spike,
      short: { total: 16, denied: 8 },
      long: { total: 92, denied: 10 },
    };

    const [finding] = find([counts, ...others(49)], [historyOf({ total: 2016, denied: 60 }), ...before(49)]);

    expect(finding).to.include({ tool_name: 'pay', fromMs: NOW - MINUTE, ...spike });
  });

  it('reports the range, the counts and the baseline', () => {
    const [finding] = find(
      [countsOf({ total: 40, denied: 30 })],
      [historyOf({ total: 10_000, denied: 300 })],
    );

    expect(finding).to.deep.equal({
      rule: 'denials',
      agent_name: 'clerk',
      tool_name: '',
      fromMs: NOW - 5 * MINUTE,
      toMs: NOW,
      total: 40,
      denied: 30,
      usual: { total: 10_000, denied: 300 },
    });
  });

  it('reports five denials, and odds that are three times as high', () => {
    expect(find([countsOf({ total: 5, denied: 5 })], [historyOf({ total: 1e6 })])).to.have.lengthOf(1);
    const usual = historyOf({ total: 10_000, denied: 1000 });
    expect(find([countsOf({ total: 2000, denied: 500 })], [usual])).to.have.lengthOf(1);
  });

  it('requires a larger spike in a project with more agents, so that all of them raise one false alarm in 1,000 days', () => {
    const usual = historyOf({ total: 10_000, denied: 1000 });
    const beside = Array.from({ length: 50 }, (_, index) => countsOf({ agent: `a${index}`, total: 10 }));
    const spike = (denied: number) => countsOf({ total: 10, denied });

    // By chance: 4e-7 and 9e-9. The most of one group of two in one of three windows of a minute: 1e-7.
    expect(find([spike(8)], [usual])).to.deep.equal([]);
    expect(find([spike(9)], [usual])).to.have.lengthOf(1);
    expect(find([spike(9), ...beside], [usual])).to.deep.equal([]);
  });

  const calm: [string, Given, Given][] = [
    ['a share that is high as ever', { total: 500, denied: 310 }, { total: 10_000, denied: 6000 }],
    [
      'a share that is significantly, but not far above',
      { total: 100_000, denied: 12_000 },
      { total: 1e6, denied: 1e5 },
    ],
    ['four denials', { total: 4, denied: 4 }, { total: 1e6, denied: 0 }],
    ['odds that are not three times as high', { total: 2000, denied: 499 }, { total: 1e4, denied: 1000 }],
    ['an agent without a baseline', { total: 50, denied: 50 }, { total: 3, denied: 0 }],
  ];
  for (const [what, now, before] of calm)
    it(`does not report ${what}`, () => {
      expect(find([countsOf(now)], [historyOf(before)])).to.deep.equal([]);
    });
});

describe('the rule of new names', () => {
  const find = (counts: ToolCounts[], history: ToolHistory[]) => findNewNames(counts, history, NOW);
  const known = historyOf({ total: 100 });

  it('reports a new agent once, and not its tools', () => {
    const [a, b] = ['a', 'b'].map((tool) => countsOf({ agent: 'stranger', tool, total: 3, denied: 2 }));
    const earlier = { ...b, firstMs: NOW - 3 * MINUTE } as ToolCounts;

    const found = find([a as ToolCounts, earlier, countsOf({ total: 5 })], [known]);

    expect(found).to.deep.equal([
      {
        rule: 'new_names',
        agent_name: 'stranger',
        tool_name: '',
        fromMs: NOW - 3 * MINUTE,
        toMs: NOW,
        total: 6,
        denied: 4,
        usual: { total: 0, denied: 0 },
      },
    ]);
  });

  it('reports a new tool of a known agent', () => {
    const found = find([countsOf({ tool: 'wire_money', total: 1 }), countsOf({ total: 1 })], [known]);

    expect(namesOf(found)).to.deep.equal(['clerk/wire_money']);
  });

  it('does not report a tool without a call in its range', () => {
    const never = { ...countsOf({ tool: 'wire_money', total: 1 }), firstMs: undefined };

    expect(find([countsOf({ tool: 'wire_money', total: 0 }), never], [known])).to.deep.equal([]);
  });

  it('reports nothing on the first day of an agent, and of a project', () => {
    const news = [countsOf({ tool: 'wire_money', total: 1 })];

    expect(find(news, [historyOf({ total: 100 }, 1)])).to.have.lengthOf(1);
    const other = historyOf({ agent: 'other', total: 9 });

    expect(find(news, [historyOf({ total: 100 }, 0.5), other])).to.deep.equal([]);
    expect(find(news, [historyOf({ agent: 'other', total: 9 }, 0.5)])).to.deep.equal([]);
    expect(find(news, [])).to.deep.equal([]);
  });
});

describe('the rule of silence', () => {
  /** A steady agent: this many calls in each hour of the last eight days until its last call. */
  const agentOf = (perHour: number, lastMs: number) => {
    const hours = new Map<number, number>();
    const first = Math.floor(NOW / HOUR_MS) * HOUR_MS;
    for (let hour = first - 8 * DAY_MS; hour <= lastMs; hour += HOUR_MS) hours.set(hour, perHour);
    return { agent_name: 'clerk', lastMs, hours };
  };
  const find = (perHour: number, silentMs: number, watchedMs = DAY_MS) =>
    findSilence([agentOf(perHour, NOW - silentMs)], NOW - watchedMs, NOW);

  it('reports an agent with 600 calls an hour after three minutes', () => {
    expect(find(600, 2.9 * MINUTE)).to.deep.equal([]);
    expect(find(600, 3 * MINUTE)).to.deep.equal([
      {
        rule: 'silence',
        agent_name: 'clerk',
        tool_name: '',
        fromMs: NOW - 3 * MINUTE,
        toMs: NOW,
        total: 0,
        denied: 0,
        usual: { total: 30, denied: 0 },
      },
    ]);
  });

  it('waits longer for an agent that calls rarely', () => {
    expect(find(2, 14 * HOUR_MS)).to.deep.equal([]);
    expect(find(2, 15 * HOUR_MS)).to.have.lengthOf(1);
  });

  it('does not report an agent that has been away for more than a day', () => {
    expect(find(600, DAY_MS + 1)).to.deep.equal([]);
    expect(find(600, DAY_MS)).to.have.lengthOf(1);
  });

  it('counts only the time since the service began to watch', () => {
    expect(find(600, HOUR_MS, 2 * MINUTE)).to.deep.equal([]);
  });

  it('does not report an agent that rests on one day of the week at this time', () => {
    const agent = agentOf(600, NOW - HOUR_MS);
    for (let hour = 0; hour < 24; hour += 1)
      agent.hours.delete(Math.floor(NOW / HOUR_MS) * HOUR_MS - 3 * DAY_MS - (hour - 12) * HOUR_MS);

    expect(findSilence([agent], NOW - DAY_MS, NOW)).to.deep.equal([]);
  });
});
