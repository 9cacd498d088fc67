import { existsSync } from 'node:fs';
import type { PlaybookReport } from '../../../src/apply/playbook-report.ts';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { seenProperties } from '../../../src/engine/plan/view.ts';
import { canonicalJson } from '../../../src/model/digest.ts';
import type { Patch } from '../../../src/model/step.ts';
import type { FleetObservation } from '../../../src/rack/examination.ts';
import { read } from '../../../src/rack/fact.ts';
import { leasesFact } from '../../../src/rack/records/leases-fact.ts';
import { propertyKey } from '../../../src/rack/resource.ts';
import type { Fleet } from '../../../src/sim/hosts/control/start-fleet.ts';
import type { RecordedEffect } from '../../../src/sim/hosts/records.ts';
import { eventually, until } from '../../until.ts';
import { unnamedEffects } from '../converge-effects.ts';
import { endRollbackTimes } from './end-rollback-times.ts';
import type { KillRack, KillRun, Successor } from './kill-rack.ts';

/** The state that must be the same after a kill as without a kill. */
export interface Expected {
  readonly state: unknown;
  /** The output of the killed run. */
  readonly plans: readonly Plan[];
}

const lines = (value: unknown): readonly string[] => JSON.stringify(value, null, 1).split('\n');

/** The lines that only one of two values has. */
function difference(seen: unknown, wanted: unknown): readonly string[] {
  const [mine, theirs] = [lines(seen), lines(wanted)];
  return [
    ...mine.filter((line) => !theirs.includes(line)).map((line) => `+${line}`),
    ...theirs.filter((line) => !mine.includes(line)).map((line) => `-${line}`),
  ];
}

function stateProblems(seen: unknown, wanted: unknown): readonly string[] {
  const [mine, theirs] = [seen, wanted].map((value) => canonicalJson(JSON.parse(JSON.stringify(value))));
  return mine === theirs ? [] : ['the final state is another one:', ...difference(seen, wanted)];
}

/** Everything that kept an apply from completing. */
function runProblems({ works, isStopped, isDeclined }: PlaybookReport): readonly string[] {
  const steps = works.flatMap(({ run }) => run?.steps ?? []);
  const bad = steps.filter(({ outcome }) => !['changed', 'unchanged', 'blocked'].includes(outcome));
  return [
    ...(isStopped || isDeclined ? ['the apply was stopped'] : []),
    ...works.flatMap(({ refusals }) =>
      refusals.map(({ node, holder }) => `${node} is held by ${JSON.stringify(holder)}`),
    ),
    ...bad.map(({ step, outcome }) => `${step.id} ${outcome}`),
    ...works.flatMap(({ diagnostics }) => diagnostics.map(({ code, detail }) => `${code}: ${plainText(detail)}`)),
  ];
}

/** An apply takes and releases the leases of changed nodes, even from a dead run, and touches no other node. */
function leaseProblems({ works, observation }: PlaybookReport): readonly string[] {
  const steps = works.flatMap(({ run }) => run?.steps ?? []).filter(({ outcome }) => outcome !== 'blocked');
  const nodes = [...new Set(steps.map(({ step }) => step.node))];
  return nodes.flatMap((node) => {
    const leases = read(observation?.nodes[node]?.facts, leasesFact);
    const isFree = leases?.kind === 'known' && leases.value.length === 0;
    return isFree ? [] : [`a lease is left on ${node}: ${JSON.stringify(leases)}`];
  });
}

/** Boot sessions that received more than one order to end. */
function repeatedOrders(effects: readonly RecordedEffect[]): readonly string[] {
  const orders = effects
    .filter(({ kind }) => kind === 'reboot' || kind === 'power-off')
    .map(({ node, boot }) => `${node} was told again to restart in its boot session ${boot}`);
  return [...new Set(orders.filter((one, at) => orders.indexOf(one) !== at))];
}

const nothingSeen = { nodes: {}, failures: {} };

function effectProblems(effects: readonly RecordedEffect[], plans: readonly Plan[]): readonly string[] {
  const steps = plans.flatMap((plan) => [...plan.steps, ...plan.rescues.flatMap((rescue) => rescue.steps)]);
  return [
    ...repeatedOrders(effects),
    ...unnamedEffects(effects, steps, nothingSeen).map((one) => `no plan had named ${one}`),
  ];
}

const effectsSince = ({ rack }: KillRack, { sinceEpochMs }: KillRun): readonly RecordedEffect[] =>
  rack
    .fleet()
    .effects()
    .filter(({ atEpochMs }) => atEpochMs >= sinceEpochMs);

const isQuiet = (fleet: Fleet): boolean =>
  fleet.groupCount() === fleet.processes().length && Object.values(fleet.power()).every((power) => power === 'up');

/** Waits until no command runs on a node, and every restarting Mac is up again. */
export async function quiet(fleet: Fleet): Promise<void> {
  if (await eventually(() => isQuiet(fleet))) return;
  throw new Error(`the Macs did not become idle: ${JSON.stringify(fleet.power())}`);
}

/**
 * Ends the rollback delay of network changes, and waits until no script runs and no node has a pending or
 * running rollback.
 */
async function unpending({ rack, at }: KillRack): Promise<void> {
  await quiet(rack.fleet());
  const folders = Object.keys(rack.fleet().nodes).flatMap((node) =>
    ['pending', 'rolling'].map((name) => at(node, `/Library/Application Support/meshwright/transaction/${name}`)),
  );
  await until(async () => {
    await endRollbackTimes(rack.fleet());
    return !folders.some((folder) => existsSync(folder));
  });
}

const hasTransaction = ({ steps }: Plan): boolean => steps.some(({ act }) => act.kind === 'transaction');

/** Network changes that are only partly visible on a node after all of them are settled. */
function halfChanges({ rack }: KillRack, found: FleetObservation, { plans }: Expected): readonly string[] {
  const seen = seenProperties(rack.desired(), found);
  const isSeen = (patch: Patch): boolean => {
    const now = seen.get(propertyKey(patch));
    return now?.kind === 'known' && canonicalJson(now.value) === canonicalJson(patch.value);
  };
  const changes = plans.flatMap(({ steps }) => steps.filter(({ act }) => act.kind === 'transaction'));
  return changes
    .filter(({ establishes }) => establishes.some(isSeen) && !establishes.every(isSeen))
    .map(({ id }) => `${id} was left half done`);
}

/**
 * The differences between the rack and its state without the kill. A script of the killed run may still be running at
 * its end on a node with nothing left to do, so that no run waited for it. Then the state after its end
 * counts.
 */
async function finalProblems(kill: KillRack, seen: FleetObservation, expected: Expected): Promise<readonly string[]> {
  const problems = stateProblems(await kill.stateIn(seen), expected.state);
  if (problems.length === 0) return [];
  await unpending(kill);
  return stateProblems(await kill.stateIn(await kill.rack.observe()), expected.state);
}

/** Applies once after a kill, and returns every difference from the state without the kill. */
export async function aftermath(
  kill: KillRack,
  { killed, successor }: { readonly killed: KillRun; readonly successor: Successor },
  expected: Expected,
): Promise<readonly string[]> {
  // The same computer applies after the rollback delay; a different computer applies before the delay is over.
  const isOver = successor === 'same' && expected.plans.some(hasTransaction);
  if (isOver) await unpending(kill);
  const { report, found } = await kill.recover(killed, successor);
  const { observation } = report;
  const plans = [...expected.plans, ...report.works.flatMap(({ plan }) => plan ?? [])];
  return [
    ...(isOver ? halfChanges(kill, found, expected) : []),
    ...runProblems(report),
    ...leaseProblems(report),
    ...(observation === undefined ? ['no observation at the end'] : await finalProblems(kill, observation, expected)),
    ...effectProblems(effectsSince(kill, killed), plans),
    ...kill.jobs.takeDoubled().map((job) => `several copies of ${job} lived at once`),
    ...kill.files.takeDoubled().map((path) => `several downloads of ${path} went on at once`),
  ];
}
