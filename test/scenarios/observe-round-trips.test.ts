import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeWay } from '../../src/apply/with-remote.ts';
import { type ProxyCounts, startDelayingProxy } from '../proxy/delaying-proxy.ts';
import { hasSshd } from '../sshd/start-sshd.ts';
import { type ExampleRack, observe, startExampleRack, timelessFacts } from './observe-rack.ts';
import { type SshdRack, startSshdRack } from './observe-sshd.ts';

/** More than an end usually needs to answer, so that nothing but waiting for the other end counts. */
const oneWayMs = 60;
const most = 9;
const attempts = 5;

let rack: ExampleRack;
beforeAll(async () => {
  rack = await startExampleRack();
});
afterAll(() => rack.stop());

interface Journey {
  readonly counts: ProxyCounts;
  readonly elapsedMs: number;
}

/** One observation of one node through the proxy; its facts must be those of the straight way. */
async function journey(node: string, targetPort: number, way: (port: number) => NodeWay): Promise<Journey> {
  const straight = await observe([rack.way(node)]);
  const proxy = await startDelayingProxy({ targetPort, oneWayMs });
  try {
    const start = performance.now();
    const observed = await observe([way(proxy.port)]);
    const elapsedMs = performance.now() - start;
    expect(observed.failures).toEqual({});
    expect(timelessFacts(observed, node)).toEqual(timelessFacts(straight, node));
    return { counts: proxy.counts(), elapsedMs };
  } finally {
    await proxy.stop();
  }
}

/**
 * The journey with the fewest round trips. The proxy never counts too few, so one journey shows how many suffice; on
 * a loaded machine it may count too many, and another one is made.
 */
async function shortestJourney(make: () => Promise<Journey>): Promise<Journey> {
  let best = await make();
  for (let more = 1; more < attempts && best.counts.roundTrips > most; more += 1) {
    const next = await make();
    if (next.counts.roundTrips < best.counts.roundTrips) best = next;
  }
  return best;
}

/** Counted honestly, a journey cannot have been shorter than its round trips after the connection itself. */
const leastMs = ({ counts }: Journey): number => (counts.roundTrips - 1) * 2 * (oneWayMs - 1);

describe('an observation from afar', () => {
  it('takes at most nine round trips with the simulated node, the TCP connection included', async () => {
    const port = rack.fleet.nodes['studio-1']?.port ?? 0;
    const made = await shortestJourney(() => journey('studio-1', port, (far) => rack.way('studio-1', { port: far })));
    expect(made.counts.connections).toBe(1);
    expect(made.counts.roundTrips).toBeLessThanOrEqual(most);
    expect(made.elapsedMs).toBeGreaterThanOrEqual(leastMs(made));
  });
});

describe.skipIf(!hasSshd())('an observation from afar over OpenSSH', () => {
  let real: SshdRack;
  beforeAll(async () => {
    real = await startSshdRack(rack);
  });
  afterAll(() => real.stop());

  it('takes at most nine round trips, the TCP connection included', async () => {
    const port = real.servers['studio-2']?.port ?? 0;
    const made = await shortestJourney(() => journey('studio-2', port, (far) => real.way('studio-2', far)));
    expect(made.counts.connections).toBe(1);
    expect(made.counts.roundTrips).toBeLessThanOrEqual(most);
    expect(made.elapsedMs).toBeGreaterThanOrEqual(leastMs(made));
  });
});
