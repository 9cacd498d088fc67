import { describe, expect, it } from 'vitest';
import { known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { named, prose } from '../../../../src/model/text/prose.ts';
import type { PlacementSurvey } from '../../../../src/rack/placement/check/placement-survey.ts';
import { type WatchInput, watchedText, watchLines } from '../../../../src/report/status/watch-text.ts';
import { plainPage } from '../../../rack/page.ts';
import { endpointCounts, endpointStatus } from '../../../rack/placements.ts';
import { desiredFleet, observedFleet } from '../../../rack/rack.ts';

const serving: PlacementSurvey = {
  name: 'kimi',
  state: 'serving',
  evidence: 'its endpoint returned a token',
  wanted: 'serving',
  standing: 'met',
  nodes: ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName),
  transport: 'rdma',
  tokensPerSecond: 20,
};

const hung: PlacementSurvey = {
  ...serving,
  name: 'qwen',
  state: 'hung',
  standing: 'differs',
  evidence: 'no token: none came before the deadline of 20 s',
  failure: {
    node: nodeName('studio-3'),
    rank: 'rank 2 on studio-3 exited (1)',
    line: 'errno 60',
    meaning: 'A peer did not answer.',
    action: 'restart',
    cure: '',
  },
};

const unseen: PlacementSurvey = {
  ...serving,
  name: 'tiny',
  state: 'unknown',
  standing: 'unknown',
  evidence: 'studio-4: gone',
};

function input(placements: readonly PlacementSurvey[], more: Partial<WatchInput> = {}): WatchInput {
  const counts = endpointCounts({
    requests: 14,
    failed: 1,
    generating: { tokens: 90, totalMs: 3_000, lastPerSecond: 27.94 },
  });
  const busy = endpointStatus({ running: 2, waiting: 1, quietMs: 94_000, counts });
  return {
    desired: desiredFleet(),
    observation: observedFleet({
      unreachable: ['studio-4'],
      values: { 'studio-3': { swap: { usedMegabytes: 11_000 } } },
    }),
    placements,
    clients: [
      { placement: 'kimi', status: known(busy) },
      { placement: 'qwen', status: known(endpointStatus({ closed: 'it is stopped.' })) },
      { placement: 'tiny', status: unknown('unreachable', 'studio-4 was not observed') },
    ],
    memory: [],
    since: new Map(placements.map(({ name }) => [name, { text: 'before 06:11:06' }])),
    late: new Map(),
    ...more,
  };
}

const shown = (placements: readonly PlacementSurvey[], columns: number): readonly string[] =>
  watchLines(input(placements), plainPage({ columns, isSimulated: true }));

describe('the live table', () => {
  it('shows speed, requests, and since when and why a placement does not serve', () => {
    expect(shown([serving, hung], 80)).toMatchInlineSnapshot(`
      [
        "studio-rack   4 nodes, 2 placements                                    simulated",
        "",
        "  placement   state     tokens/s   in flight       answered",
        "  kimi        serving   27.9       3 (1 waiting)   14 (1 failed)",
        "    requests in flight got no output for 94 s",
        "  qwen        hung      -          0               0",
        "    hung since before 06:11:06: no token: none came before the deadline of 20 s",
        "    first failure: rank 2 on studio-3 exited (1): A peer did not answer",
        "    its gateway refuses requests: it is stopped",
        "",
        "Swap in use: 0 GB on studio-1,2; 10.7 GiB on studio-3; unknown on studio-4",
      ]
    `);
  });

  it('has several lines per placement on a phone', () => {
    const lines = shown([serving, hung], 40);
    expect(lines).toMatchInlineSnapshot(`
      [
        "studio-rack",
        "4 nodes, 2 placements",
        "simulated",
        "",
        "  kimi   serving",
        "    requests in flight got no output for",
        "    94 s",
        "    tokens/s 27.9",
        "    in flight 3 (1 waiting)",
        "    answered 14 (1 failed)",
        "  qwen   hung",
        "    hung since before 06:11:06: no",
        "    token: none came before the deadline",
        "    of 20 s",
        "    first failure: rank 2 on studio-3",
        "    exited (1): A peer did not answer",
        "    its gateway refuses requests: it is",
        "    stopped",
        "    tokens/s -   in flight 0",
        "    answered 0",
        "",
        "Swap in use: 0 GB on studio-1,2;",
        "10.7 GiB on studio-3; unknown on",
        "studio-4",
      ]
    `);
  });

  it('says unknown instead of 0 for everything that was not observed', () => {
    expect(shown([unseen], 80)).toMatchInlineSnapshot(`
      [
        "studio-rack   4 nodes, 1 placement                                     simulated",
        "",
        "  placement   state     tokens/s   in flight   answered",
        "  tiny        unknown   unknown    unknown     unknown",
        "    unknown since before 06:11:06: studio-4: gone",
        "",
        "Swap in use: 0 GB on studio-1,2; 10.7 GiB on studio-3; unknown on studio-4",
      ]
    `);
    const { tokensPerSecond: _, ...unmeasured } = serving;
    expect(watchLines(input([unmeasured], { clients: [] }), plainPage())).toContain(
      '  kimi        serving   unknown    unknown     unknown',
    );
  });

  it.each([20, 30, 40, 60, 80])('never exceeds %s columns', (columns) => {
    const wide = shown(
      [serving, hung, unseen, { ...hung, name: 'a-name-that-is-longer-than-a-phone-is-wide' }],
      columns,
    );
    expect(Math.max(...wide.map((line) => line.length))).toBeLessThanOrEqual(columns);
  });

  it('colors only the state', () => {
    const painted = watchLines(input([hung]), plainPage({ paint: (tone, text) => `<${tone} ${text}>` }));
    expect(painted.find((line) => line.includes('qwen'))).toBe('  qwen        <bad hung>    -          0           0');
  });
});

describe('the late rank', () => {
  const late = new Map([
    ['qwen', prose` The evidence points to ${named('studio-3')} (its rank has no queue pair).`],
    ['kimi', prose` The evidence points to ${named('studio-1')} (a signal has suspended its rank).`],
  ]);
  const words = 'The evidence points to studio-3 (its rank has no queue pair)';

  it('is a reason of the placement that it holds up, and not of one that serves', () => {
    const lines = watchLines(input([serving, hung], { late }), plainPage());
    expect(lines.filter((line) => line.includes('evidence'))).toEqual([`    ${words}`]);
    expect(watchedText(hung, input([hung], { late }))).toContain(`; ${words}; `);
  });
});

describe('the line for a change', () => {
  it('has the state, its reason and the requests in flight', () => {
    const text = (one: PlacementSurvey): string => watchedText(one, input([one]));
    expect([serving, hung, unseen].map(text)).toMatchInlineSnapshot(`
      [
        "kimi serving, 27.9 tokens/s, in flight: 3 (1 waiting); requests in flight got no output for 94 s",
        "qwen hung, in flight: 0; hung since before 06:11:06: no token: none came before the deadline of 20 s; first failure: rank 2 on studio-3 exited (1): A peer did not answer; its gateway refuses requests: it is stopped",
        "tiny unknown, in flight: unknown; unknown since before 06:11:06: studio-4: gone",
      ]
    `);
  });
});
