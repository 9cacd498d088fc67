import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import { type ProxyCounts, type ProxyOptions, startDelayingProxy } from '../proxy/delaying-proxy.ts';
import { shared } from '../rack/kept-running.ts';
import { hasSshd } from '../sshd/start-sshd.ts';
import { observe, startExampleRack, timelessFacts } from './observe-rack.ts';
import { type SshdRack, startSshdRack } from './observe-sshd.ts';

/**
 * Increasing delays. They exceed the time that an end needs to answer, so that only waiting for the other end counts.
 */
const waysMs = [60, 120, 250, 500, 1_000];
const most = 9;

const rack = shared(() => startExampleRack());

/** Observes one node through the proxy. The facts must equal those from a direct connection. */
async function journey(node: string, proxyTo: ProxyOptions, way: (port: number) => NodeTarget): Promise<ProxyCounts> {
  const straight = await observe([rack.way(node)]);
  const proxy = await startDelayingProxy(proxyTo);
  try {
    const observed = await observe([way(proxy.port)]);
    expect(observed.failures).toEqual({});
    expect(timelessFacts(observed, node)).toEqual(timelessFacts(straight, node));
    return proxy.counts();
  } finally {
    await proxy.stop();
  }
}

/**
 * The journey with the fewest round trips. The proxy never counts too few, so one journey is proof. If this machine is
 * slower than the delay, it may count too many, and a longer delay is tried.
 */
async function shortestJourney(make: (oneWayMs: number) => Promise<ProxyCounts>): Promise<ProxyCounts> {
  let best: ProxyCounts | undefined;
  for (const oneWayMs of waysMs) {
    const next = await make(oneWayMs);
    if (best === undefined || next.roundTrips < best.roundTrips) best = next;
    if (best.roundTrips <= most) return best;
  }
  throw new Error(`at least ${best?.roundTrips} round trips`);
}

describe('an observation over a slow connection', () => {
  it('takes at most nine round trips to a simulated node, including the TCP connection', async () => {
    const targetPort = rack.fleet.nodes['studio-1']?.port ?? 0;
    const made = await shortestJourney((oneWayMs) =>
      journey('studio-1', { targetPort, oneWayMs }, (port) => rack.way('studio-1', { port })),
    );
    expect(made.connections).toBe(1);
    expect(made.roundTrips).toBeLessThanOrEqual(most);
  });
});

describe.skipIf(!hasSshd())('an observation over a slow connection to OpenSSH', () => {
  let real: SshdRack;
  beforeAll(async () => {
    real = await startSshdRack(rack);
  });
  afterAll(() => real.stop());

  it('takes at most nine round trips, including the TCP connection', async () => {
    const targetPort = real.servers['studio-2']?.port ?? 0;
    const made = await shortestJourney((oneWayMs) =>
      journey('studio-2', { targetPort, oneWayMs }, (port) => real.way('studio-2', port)),
    );
    expect(made.connections).toBe(1);
    expect(made.roundTrips).toBeLessThanOrEqual(most);
  });
});
