/** Small steps for runs on the rack in `apply-rack.ts`, and functions that read their results. */

import { afterEach } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import type { RunTiming } from '../../src/apply/run-timing.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Patch, Step } from '../../src/model/step.ts';
import { addressed } from '../../src/model/subject.ts';
import { aStep, type StepChange } from '../rack/plans.ts';
import type { RunningRack } from '../rack/running.ts';
import { quickTiming } from './apply-rack.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';

/** The folder of meshwright on a Mac. */
export const ours = '/Library/Application Support/meshwright';
export const historyFile = `${ours}/log/history`;
export const ownerFile = `${ours}/lease/owner`;

/** Timing for tests that wait for a live lease: even a busy machine shows a heartbeat before the lease could expire. */
export const patientTiming: RunTiming = { ...quickTiming, heartbeatMs: 100, leaseExpiryMs: 30_000 };

let minutes = 20;

/** Sets the sleep of a Mac to a number of minutes that no earlier step used, so the value always changes. */
export function sleepAfter(id: string, node: string, more: StepChange = {}): Step {
  minutes += 1;
  return aStep(id, { node, act: { kind: 'script', name: 'set-power', args: { sleepMinutes: minutes } }, ...more });
}

/** The patch for this number of minutes; by default that of the newest step. */
export const seenSleep = (node: string, value = minutes): Patch => ({
  node: nodeName(node),
  ...addressed({ kind: 'power', part: 'sleep' }),
  value,
});

/** A gate that waits for one property. */
export const gate = (id: string, patch: Patch, more: StepChange = {}): Step =>
  aStep(id, { node: patch.node, class: 'probe', act: { kind: 'gate', expect: [patch], aborts: [] }, ...more });

/** The outcome of each step, by its id. */
export const outcomes = ({ steps }: RunReport): Readonly<Record<string, string>> =>
  Object.fromEntries(steps.map(({ step, outcome }) => [step.id, outcome]));

export const codes = ({ diagnostics }: RunReport): readonly string[] => diagnostics.map(({ code }) => code);

/** The number of times that a node has run a step's script, according to the node's history. */
export const timesRun = (rack: RunningRack, node: string, step: string): number =>
  (rack.read(node, historyFile) ?? '').split(`step=${encodeURIComponent(step)} `).length - 1;

/** Starts proxies in front of nodes and stops them after each test. Returns the SSH targets, one of them through its proxy. */
export function cuttingProxies(): (
  rack: RunningRack,
  node: string,
) => Promise<{ readonly proxy: CuttingProxy; readonly ways: readonly NodeTarget[] }> {
  const proxies: CuttingProxy[] = [];
  afterEach(async () => {
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });
  return async (rack, node) => {
    const proxy = await startCuttingProxy(rack.fleet.nodes[node]?.port ?? 0);
    proxies.push(proxy);
    const ways = rack.desired.nodes.map(({ name }) => rack.way(name, name === node ? { port: proxy.port } : {}));
    return { proxy, ways };
  };
}
