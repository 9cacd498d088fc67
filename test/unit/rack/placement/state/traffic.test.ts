import { describe, expect, it } from 'vitest';
import type { TokenResult } from '../../../../../src/model/facts/fact-values.ts';
import type { EndpointTraffic, GatewayStatus } from '../../../../../src/model/gateway.ts';
import { type Known, known, unknown } from '../../../../../src/model/known.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { type Mesh, meshWords } from '../../../../../src/rack/placement/mesh/read-mesh.ts';
import {
  digestOfKimi,
  endpointStatus,
  gatewayStatus,
  meshFleet,
  observeMesh,
  threeRanks,
} from '../../../../rack/placements.ts';
import { onOnePage } from '../../../one-page.ts';
import { readMesh } from '../recorded-mesh.ts';

const late: TokenResult = { kind: 'silent', reason: 'none came before the deadline of 20 s', isTimeout: true };

/** The gateways of the placement; while its endpoint moves, the old gateway comes first. */
const seenAs = (...flows: readonly EndpointTraffic[]): Known<readonly GatewayStatus[]> =>
  known(flows.map((flow, at) => gatewayStatus([endpointStatus(flow)], 8_080 + 10 * at)));

/** A mesh with a gateway. It gave no token in time, unless `token` sets a different result. */
function meshOf(
  gateways: Known<readonly GatewayStatus[]>,
  token: TokenResult = late,
  { state = 'joined', firstTokenMs }: { readonly state?: 'joined' | 'running'; readonly firstTokenMs?: number } = {},
): Mesh {
  const fleet = meshFleet();
  const { nodes } = observeMesh(fleet, { ranks: threeRanks(['joined', 'joined', state], { token }) });
  const leader = nodes['studio-1'];
  if (leader === undefined) throw new Error('the leader was not observed');
  const expected = {
    placement: 'kimi',
    nodes: ['studio-1', 'studio-2', 'studio-3'].map(nodeName),
    digest: digestOfKimi(fleet),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
  };
  return readMesh(expected, { ...nodes, 'studio-1': { ...leader, facts: { ...leader.facts, gateways } } });
}

const notInTime = 'no token: none came before the deadline of 20 s';

describe('a mesh that is not asked for a token because a request is in flight', () => {
  const busy: TokenResult = { kind: 'in-flight', reason: 'another request is in flight, so none was sent' };
  const idle = seenAs({ running: 0, waiting: 0 });

  it('serves if a client received a token or the gateway is sending a response', () => {
    expect(meshOf(idle, { kind: 'in-flight', reason: 'a client got a token', lastTokenMsAgo: 440 })).toMatchObject({
      state: 'serving',
      seen: 'answers-clients',
      evidence: 'busy: a client got a token 0.4 s ago',
      isAnswering: true,
    });
    const flowing = seenAs({ running: 1, waiting: 0, lastByteMsAgo: 840, quietMs: 840 });
    expect(meshOf(flowing, busy)).toMatchObject({ state: 'serving', seen: 'answers-clients' });
  });

  it('is unknown, not hung, while the gateway shows no progress', () => {
    for (const gateways of [idle, known([]), seenAs({ running: 1, waiting: 0, quietMs: 30_000 })]) {
      expect(meshOf(gateways, busy)).toMatchObject({
        state: 'unknown',
        reason: 'not-asked',
        evidence: 'another request is in flight, so none was sent',
        isAnswering: true,
      });
    }
  });

  it('is hung if its gateway shows a stalled stream', () => {
    const stuck = seenAs({ running: 1, waiting: 0, quietMs: 660_000, streamQuietMs: 660_000 });
    expect(meshOf(stuck, busy)).toMatchObject({ state: 'hung', isAnswering: false });
  });

  it('is unknown while a rank has not joined', () => {
    const proven = { kind: 'in-flight', reason: 'a client got a token', lastTokenMsAgo: 440 } as const;
    expect(meshOf(idle, proven, { state: 'running' }).state).toBe('unknown');
  });
});

describe('a mesh that gave no token in time', () => {
  it('is serving and busy while its gateway sends answers', () => {
    const mesh = meshOf(seenAs({ running: 2, waiting: 1, lastByteMsAgo: 840, quietMs: 840 }));
    expect(mesh).toMatchObject({ state: 'serving', seen: 'answers-clients', isAnswering: true });
    expect(meshWords(mesh)).toBe(
      'serving, busy: its gateway has 3 requests in flight and sent part of an answer 0.8 s ago',
    );
  });

  it('is hung and not answering if streams stall for longer than any prompt takes', () => {
    const mesh = meshOf(
      seenAs({ running: 1, waiting: 0, lastByteMsAgo: 700_000, quietMs: 660_000, streamQuietMs: 660_000 }),
    );
    expect(mesh).toMatchObject({ state: 'hung', isAnswering: false });
    expect(mesh.evidence).toBe(`${notInTime}; its gateway has 1 request in flight and has sent nothing for 11 min`);
  });

  it('serves if any gateway is sending a response, and stops answering only if all gateways stall', () => {
    const stuck = { running: 1, waiting: 0, quietMs: 660_000, streamQuietMs: 660_000 };
    const flowing = { running: 1, waiting: 0, lastByteMsAgo: 20_000, quietMs: 20_000 };
    expect(meshOf(seenAs(stuck, flowing))).toMatchObject({ state: 'serving', isAnswering: true });
    const others: readonly EndpointTraffic[] = [
      { running: 0, waiting: 0 },
      { running: 1, waiting: 0, quietMs: 45_000 },
    ];
    for (const other of others) {
      const mesh = meshOf(seenAs(stuck, other));
      expect(mesh).toMatchObject({ state: 'hung', isAnswering: true });
      expect(mesh.evidence).toContain('its gateway has 1 request in flight and has sent nothing for 11 min');
    }
    expect(meshOf(seenAs(stuck, stuck)).isAnswering).toBe(false);
    const silent: GatewayStatus = { kind: 'silent', port: 8_090, reason: 'it did not answer in time' };
    const half = seenAs(stuck);
    expect(meshOf(known([...(half.kind === 'known' ? half.value : []), silent])).isAnswering).toBe(true);
  });

  it("may stay quiet for as long as the file's first-token limit", () => {
    const quiet = seenAs({ running: 1, waiting: 0, quietMs: 660_000, streamQuietMs: 660_000 });
    expect(meshOf(quiet, late, { firstTokenMs: 900_000 })).toMatchObject({ state: 'hung', isAnswering: true });
    expect(meshOf(quiet, late, { firstTokenMs: 30_000 }).isAnswering).toBe(false);
  });

  it.each([
    [
      'a request waits for its turn',
      { running: 0, waiting: 1, lastByteMsAgo: 10, quietMs: 120_000 },
      'its gateway has 1 request in flight and has sent nothing for 2 min',
    ],
    [
      'all bytes sent belong to an earlier request',
      { running: 1, waiting: 0, lastByteMsAgo: 900, quietMs: 300 },
      'its gateway has 1 request in flight and has sent nothing for 0.3 s',
    ],
    [
      'a long answer is not streamed, or an older gateway does not report streams',
      { running: 1, waiting: 0, lastByteMsAgo: 700_000, quietMs: 660_000 },
      'its gateway has 1 request in flight and has sent nothing for 11 min',
    ],
    [
      'a stream has waited no longer than any prompt takes',
      { running: 2, waiting: 0, quietMs: 660_000, streamQuietMs: 600_000 },
      'its gateway has 2 requests in flight and has sent nothing for 11 min',
    ],
    ['a client reads slowly', { running: 1, waiting: 0, lastByteMsAgo: 30_000 }, 'its gateway has 1 request in flight'],
    ['the gateway has no requests in flight', { running: 0, waiting: 0 }, 'its gateway has no requests in flight'],
    [
      'the last answer came before the token request',
      { running: 0, waiting: 0, lastByteMsAgo: 10 },
      'its gateway has no requests in flight',
    ],
  ])('may still be answering while %s', (_case, flow, words) => {
    const mesh = meshOf(seenAs(flow));
    expect(mesh).toMatchObject({ state: 'hung', isAnswering: true });
    expect(mesh.evidence).toBe(`${notInTime}; ${words}; it is hung or busy`);
  });

  it.each<[string, Known<readonly GatewayStatus[]>]>([
    ['has no gateway', known([])],
    [
      'has a gateway that does not answer',
      known([{ kind: 'silent', port: 8_080, reason: 'the endpoint refused the connection' }]),
    ],
    ['has a gateway that could not be asked', unknown('failed', 'curl ended with 2.')],
  ])('may still be answering while it %s', (_case, gateways) => {
    const mesh = meshOf(gateways);
    expect([mesh.state, mesh.evidence, mesh.isAnswering]).toEqual(['hung', `${notInTime}; it is hung or busy`, true]);
  });

  it('is silent despite traffic after an error status or with an unjoined rank', () => {
    const flowing = seenAs({ running: 2, waiting: 0, lastByteMsAgo: 1, quietMs: 1 });
    expect(meshOf(flowing, { kind: 'silent', reason: 'status 500' }).state).toBe('hung');
    expect(meshOf(flowing, late, { state: 'running' }).state).toBe('hung');
  });
});

onOnePage('traffic');
