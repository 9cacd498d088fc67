import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import {
  type ClientCounts,
  clientCounts,
  surveyPlacements,
} from '../../../../src/rack/placement/check/placement-survey.ts';
import { plainPaint } from '../../../../src/report/page.ts';
import { clientCountsJson, clientLines, statusJson } from '../../../../src/report/status/status-json.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { endpointStatus, gatewayStatus, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';

const busy = endpointStatus({
  running: 4,
  waiting: 2,
  lastByteMsAgo: 40,
  quietMs: 40,
  counts: {
    sinceEpochSeconds: 1_790_000_000,
    requests: 412,
    failed: 3,
    refused: 9,
    tokens: 96_100,
    firstToken: { count: 100, totalMs: 42_000, lastMs: 380 },
    generating: { tokens: 90_000, totalMs: 2_866_000, lastPerSecond: 30 },
  },
});
const idle = endpointStatus({ closed: 'it is stopped\u001b[31m.' });
const of = (status: ClientCounts['status']): ClientCounts => ({ placement: 'kimi', status });
const lines = (status: ClientCounts['status'], columns = 80) =>
  clientLines([of(status)], { columns, unicode: false, paint: plainPaint, isSimulated: false });

describe("a gateway's request counts", () => {
  it('fit the page in one paragraph with their start time', () => {
    expect(lines(known(busy))).toEqual([
      '  clients of kimi: 412 answered since 2026-09-21 14:13:20 UTC, 3 failed, 9',
      '                   refused, 6 in flight (2 waiting), no output for 40 ms, 31.4',
      '                   tokens/s, first token 420 ms',
    ]);
    for (const line of lines(known(busy), 40)) expect(line.length).toBeLessThanOrEqual(40);
  });

  it('show no speed if nothing was streamed, and escape text from the node', () => {
    expect(lines(known(idle))).toEqual([
      '  clients of kimi: 0 answered, 0 in flight, closed: it is stopped\\u{1b}[31m.',
    ]);
    expect(clientCountsJson(of(known(idle)))).toEqual({
      requests: 0,
      failed: 0,
      refused: 0,
      tokens: 0,
      running: 0,
      waiting: 0,
      closed: idle.closed,
    });
  });

  it('are unknown, not zero, if the gateway did not report', () => {
    expect(lines(unknown('failed', 'no report from the gateway at port 8080: it did not answer in time'))).toEqual([
      '  clients of kimi: unknown: no report from the gateway at port 8080: it did not',
      '                   answer in time',
    ]);
    expect(clientCountsJson(of(unknown('timed-out', '')))).toEqual({ unknown: 'no answer in time' });
  });
});

describe("a published placement's client counts", () => {
  const plain = meshFleet();
  const desired = {
    ...plain,
    placements: plain.placements.map((one) => ({ ...one, publication: { servedName: 'kimi-k2' } })),
  };
  const seen = (gateways: 'none' | 'busy' | 'silent', targets = ['studio-1', 'studio-2', 'studio-3']) => {
    const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined']) });
    const leader = observation.nodes['studio-1'];
    if (leader === undefined) throw new Error('the leader was not observed');
    const answers = {
      none: [],
      busy: [gatewayStatus([busy])],
      silent: [{ kind: 'silent', port: 8_080, reason: 'it did not answer in time' }],
    } as const;
    const facts = { ...leader.facts, gateways: known(answers[gateways]) };
    const nodes = { ...observation.nodes, 'studio-1': { ...leader, facts } };
    const view = viewOf({ desired, observation: { ...observation, nodes }, targets: targets.map(nodeName) });
    return { view, placements: surveyPlacements(view), observation };
  };
  const countsOf = (...words: Parameters<typeof seen>) => {
    const { view, placements } = seen(...words);
    return clientCounts(view, placements);
  };

  it('come from its leader and are valid in the JSON schema', () => {
    const { view, placements, observation } = seen('busy');
    const clients = clientCounts(view, placements);
    expect(clients).toEqual([of(known(busy))]);
    for (const some of [clients, countsOf('silent')]) {
      const input = { desired, observation, findings: [], placements, isSimulated: false };
      const document = statusJson({ ...input, clients: some });
      expect(schemaCheck('status')(document)).toEqual([]);
      expect(document.placements['kimi']?.clients).toEqual(some.map(clientCountsJson)[0]);
    }
  });

  it('are absent without a gateway or an observed leader, and unknown if the gateway is silent', () => {
    expect(countsOf('none')).toEqual([]);
    expect(countsOf('busy', ['studio-2'])).toEqual([]);
    expect(countsOf('silent')).toMatchObject([{ status: { kind: 'unknown' } }]);
  });
});
