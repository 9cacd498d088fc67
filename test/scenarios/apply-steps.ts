/** Small steps for runs on the rack of apply-rack.ts, and what is read from such a run. */

import { afterEach } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { NodeWay } from '../../src/apply/reach/session.ts';
import type { RunTiming } from '../../src/apply/run-timing.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Patch, Step } from '../../src/model/step.ts';
import { addressed } from '../../src/model/subject.ts';
import { aStep, type StepChange } from '../rack/plans.ts';
import type { RunningRack } from '../rack/running.ts';
import { quickTiming } from './apply-rack.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';

/** Where meshwright keeps its own on a Mac. */
export const ours = '/Library/Application Support/meshwright';
export const historyFile = `${ours}/log/history`;
export const ownerFile = `${ours}/lease/owner`;

/** For whoever meets a lease that somebody renews: a loaded machine shows that too before it could be nobody's. */
export const patientTiming: RunTiming = { ...quickTiming, beatMs: 100, leaseExpiryMs: 30_000 };

let minutes = 20;

/** Tells a Mac to sleep after minutes that no step before has named: what it finds always differs. */
export function sleepAfter(id: string, node: string, more: StepChange = {}): Step {
  minutes += 1;
  return aStep(id, { node, act: { kind: 'script', name: 'set-power', args: { sleepMinutes: minutes } }, ...more });
}

/** These minutes, as they are seen; without a number those of the newest step. */
export const seenSleep = (node: string, value = minutes): Patch => ({
  node: nodeName(node),
  ...addressed({ kind: 'power', part: 'sleep' }),
  value,
});

/** A gate that waits for one property. */
export const gate = (id: string, patch: Patch, more: StepChange = {}): Step =>
  aStep(id, { node: patch.node, class: 'probe', act: { kind: 'gate', expect: [patch], aborts: [] }, ...more });

/** How each step came out, by its id. */
export const outcomes = ({ steps }: RunReport): Readonly<Record<string, string>> =>
  Object.fromEntries(steps.map(({ step, outcome }) => [step.id, outcome]));

export const codes = ({ diagnostics }: RunReport): readonly string[] => diagnostics.map(({ code }) => code);

/** How often a node has run the script of a step, by its own account. */
export const timesRun = (rack: RunningRack, node: string, step: string): number =>
  (rack.read(node, historyFile) ?? '').split(`step=${encodeURIComponent(step)} `).length - 1;

/** Puts proxies before nodes, which are stopped after each test; with the ways to all nodes, one of them through it. */
export function cuttingProxies(): (
  rack: RunningRack,
  node: string,
) => Promise<{ readonly proxy: CuttingProxy; readonly ways: readonly NodeWay[] }> {
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
