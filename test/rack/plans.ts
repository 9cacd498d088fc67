/**
 * Plans for tests: composed by hand, or made for the rack of four and its placement `kimi` with a fallback and
 * gateways.
 */

import { onFallback } from '../../src/desired/layouts.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { configurePlacement } from '../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../src/drivers/contract/driver.ts';
import type { FactValues } from '../../src/engine/observe/facts.ts';
import { makePlan as make } from '../../src/engine/plan/make-plan.ts';
import type { Plan, Reason, Waiting } from '../../src/engine/plan/plan.ts';
import type { DesiredFleet, DesiredPlacement } from '../../src/model/desired.ts';
import { type Digest, digest, digestOf, shortDigest } from '../../src/model/digest.ts';
import type { LaunchdService } from '../../src/model/facts/daemons.ts';
import type { InstalledFile, ObservedTree } from '../../src/model/facts/fact-values.ts';
import type { NodeHold } from '../../src/model/facts/node-records.ts';
import type { GatewayStatus } from '../../src/model/gateway.ts';
import { type Known, unknown } from '../../src/model/known.ts';
import { type NodeName, nodeName } from '../../src/model/node.ts';
import { type Act, type Change, type Step, stepId } from '../../src/model/step.ts';
import { type AddressParts, subjectText } from '../../src/model/subject.ts';
import { closedFile, gatewayConfig, gatewayLabel, gatewayPlist } from '../../src/node/paths/own-paths.ts';
import { textDigest } from '../../src/node/put-file.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import type { Goal } from '../../src/rack/goal.ts';
import { gatewayFiles, type WantedGateway, wantedGateways } from '../../src/rack/placement/endpoint/gateways.ts';
import type { Blocker } from '../../src/rack/resource.ts';
import { jsonText, say } from '../unit/one-page.ts';
import { endpointStatus, type MeshRack, meshFleet, observeMesh, type RankCase, rankService } from './placements.ts';
import { desiredFleet, observedFleet, type RackChanges, settledFacts } from './rack.ts';

/** A made-up digest. */
export const anyDigest = digest('ab'.repeat(32));

/** `studio-1 power/sleep: sleeps after 10 min -> never sleeps` as a change. */
export function change(
  node: string,
  resource: string,
  from: string,
  to: string,
  kind: Change['kind'] = 'change',
): Change {
  const about = aboutOf(resource);
  return { kind, id: `${node} ${resource}`, node: nodeName(node), resource, about, from, to, reason: resource };
}

/** The kind in an address that a test writes as text, and for a placement also its name. */
function aboutOf(address: string): AddressParts {
  const [kind = '', placement] = address.split('/');
  return kind === 'placement' && placement !== undefined ? { kind, placement } : { kind };
}

/** A waiting resource on a node, such as `placement/kimi`. */
export function waits(
  resource: string,
  node: string,
  reasons: readonly (string | Pick<Blocker, 'code' | 'node'>)[],
  isUnknown = false,
): Waiting {
  const reasonOf = (one: (typeof reasons)[number]): Reason =>
    typeof one === 'string'
      ? { text: one, isUnknown }
      : { text: `${one.code} on ${one.node}`, isUnknown, blocker: one };
  return { resource, about: aboutOf(resource), node: nodeName(node), for: reasons.map(reasonOf), isUnknown };
}

/** A step that sets something, with the changes of a test. */
export function stepOn(node: string, name: string, changes: Partial<Step> = {}): Step {
  return {
    id: stepId(`${node}/${name}`),
    node: nodeName(node),
    resource: name.split('/')[0] ?? name,
    class: 'converge',
    act: { kind: 'script', name: 'set-wired-limit', args: { megabytes: 1 } },
    effect: { kind: 'none' },
    changes: [],
    needs: [],
    peers: [],
    establishes: [],
    deadlineMs: 30_000,
    ...changes,
  };
}

/** The changes to a test's step. */
export interface StepChange extends Pick<Partial<Step>, 'group' | 'act' | 'class' | 'deadlineMs'> {
  readonly node?: string;
  readonly needs?: readonly string[];
  readonly after?: readonly string[];
}

/** A small step on studio-1 with these changes. */
export function aStep(id: string, { node = 'studio-1', needs = [], after, ...changes }: StepChange = {}): Step {
  return stepOn(node, 'power', {
    id: stepId(id),
    act: { kind: 'script', name: 'set-power', args: { sleepMinutes: 0 } },
    needs: needs.map(stepId),
    deadlineMs: 20_000,
    ...(after && { after: after.map(stepId) }),
    ...changes,
  });
}

/** A gate that is never evaluated. */
export const gateAct: Act = { kind: 'gate', expect: [], aborts: [] };

const sha256 = digest('a'.repeat(64));

/** A job that is never launched. */
export const jobAct: Act = {
  kind: 'job',
  key: sha256,
  name: 'unpack-runtime',
  args: { tree: { kind: 'runtime', name: 'reference', digest: sha256 }, archive: 'tar.gz', sha256, extras: [] },
};

/** An unknown boot session. */
export const unknownSession: Known<string> = unknown('unreachable', 'The node did not answer.');

/** A blocker that a manual step can clear, with the changes of a test. */
export function blocker(node: string, changes: Partial<Blocker> = {}): Blocker {
  return {
    code: 'rdma/disabled',
    node: nodeName(node),
    resource: 'rdma',
    action: [
      'Enable RDMA: shut down, hold the power button until "Loading startup options", Options > Utilities > Terminal:',
      '  rdma_ctl enable',
      'then restart.',
    ].join('\n'),
    isHands: true,
    peers: [],
    blocks: [],
    ...changes,
  };
}

/** A plan for four studios with nothing to do, with the changes of a test. */
export function emptyPlan(changes: Partial<Plan> = {}): Plan {
  const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
  return {
    formatVersion: 1,
    cluster: 'studio-rack',
    configHash: anyDigest,
    observed: Object.fromEntries(names.map((name) => [name, { bootSession: `BOOT-${name}`, hash: anyDigest }])),
    changes: [],
    steps: [],
    rescues: [],
    waiting: [],
    blockers: [],
    effects: [],
    diagnostics: [],
    ...changes,
  };
}

/** The input of a plan; by default a healthy rack of four and the whole file. */
interface PlanCase {
  readonly desired?: DesiredFleet;
  readonly rack?: RackChanges;
  readonly goal?: Goal;
  readonly targets?: readonly string[];
}

/** The plan for a rack of four. */
export function planFor({ desired = desiredFleet(), rack = {}, goal = { kind: 'converge' }, targets }: PlanCase): Plan {
  const names = targets?.map(nodeName) ?? desired.nodes.map(({ name }) => name);
  return makePlan({ goal, desired, observation: observedFleet(rack), targets: names });
}

/** The ids of the changes, such as `studio-1 power/sleep`, in the order of the plan. */
export const changed = (plan: Plan): readonly string[] => plan.changes.map(({ id }) => id);

/** The ids of the steps, in their order. */
export const stepIds = (plan: Plan): readonly string[] => plan.steps.map(({ id }) => id);

/** Makes a plan and records its lines on the test file's golden page. */
export function makePlan(...about: Parameters<typeof make>): Plan {
  const plan = make(...about);
  // Digests change with every input.
  for (const line of linesOf(plan)) say(line.replaceAll(/[0-9a-f]{16,}/g, '<digest>'));
  return plan;
}

/** A step without the arguments of its script and the content of its file. */
function stepLine({ id, act, class: repeats, effect, establishes, node: _, ...rest }: Step): string {
  const isCall = ['script', 'job', 'transaction', 'put', 'prove'].includes(act.kind);
  const established = establishes.map(({ node, address, value }) => `${node} ${address} ${JSON.stringify(value)}`);
  return `step ${id}: ${repeats} ${isCall ? act.kind : jsonText(act)} ${jsonText({ effect, ...rest, established })}`;
}

const linesOf = ({ changes, steps, rescues, waiting, blockers, effects, diagnostics }: Plan): readonly string[] => [
  ...changes.map(({ id, kind, from, to, reason }) => `${kind} ${id}: ${from} -> ${to} (${reason})`),
  ...steps.map(stepLine),
  ...rescues.flatMap((rescue) => rescue.steps.map((step) => `rescue ${rescue.group} ${stepLine(step)}`)),
  ...waiting.map(
    (one) =>
      `waiting ${one.node} ${one.resource}${one.isUnknown ? ' (unknown)' : ''}: ${one.for.map(({ text }) => text).join('; ')}`,
  ),
  ...blockers.map((one) => `blocker ${jsonText(one)}`),
  ...effects.map((one) => `effect ${JSON.stringify(one)}`),
  ...diagnostics.map(({ severity, code, subject, detail, hint }) =>
    [`${severity} ${code}`, subjectText(subject), plainText(detail), plainText(hint)].join(' | '),
  ),
];

/** `studio-4`, `studio-1` for 4, 1. */
export const nodes = (...numbers: readonly number[]) => numbers.map((number) => nodeName(`studio-${number}`));
/** The fallback on studio-4 and studio-1. */
export const fallback = { nodes: nodes(4, 1), contextTokens: 2_048 };

/** {@link meshFleet} in which `kimi` has a fallback. */
export const fleetWithFallback = (placement: Partial<DesiredPlacement> = {}): DesiredFleet =>
  meshFleet({ placement: { fallback, ...placement } });

/** The first placement of a fleet. */
export function kimi({ placements }: DesiredFleet): DesiredPlacement {
  const [one] = placements;
  if (one === undefined) throw new Error('the fleet has no placement');
  return one;
}

/** The digest of a placement in a fleet. */
export function digestIn(of: DesiredFleet, placement: DesiredPlacement): string {
  const { digest } = configurePlacement(placement, of, 0, lastingNames);
  return digest ?? '';
}

/** Ranks of the fallback from the fifth start, listed before the remains of the fourth. */
export function onTheFallback(of: DesiredFleet, state: RankCase['state'] = 'joined'): MeshRack['ranks'] {
  const there = onFallback(kimi(of));
  const { length: size } = there.nodes;
  const all = { state, generation: 5, digest: digestIn(of, there), changes: { size } } as const;
  return Object.fromEntries(there.nodes.map((node, rank) => [node, [{ ...all, rank }]]));
}

/** All ranks of `kimi` on its own nodes. */
export const onItsNodes: MeshRack['ranks'] = {
  'studio-1': [{ state: 'joined', rank: 0 }],
  'studio-2': [{ state: 'joined', rank: 1 }],
  'studio-3': [{ state: 'joined', rank: 2 }],
};

/** The input of {@link placedPlan}. */
export interface PlacedCase {
  readonly of?: DesiredFleet;
  readonly ranks: MeshRack['ranks'];
  readonly goal?: Goal;
  readonly away?: readonly string[];
  readonly held?: string;
  /** Absent: every node. */
  readonly targets?: readonly NodeName[];
  /** Further facts about a node. */
  readonly shown?: Readonly<Record<string, Partial<FactValues>>>;
  /** Nodes on which the gateway of `kimi` is closed; if set, every node shows the gateways of the file. */
  readonly closed?: readonly string[];
}

const hold: NodeHold = { reason: 'power supply', by: 'ana@laptop', since: '2026-11-21', isOver: false };

/** The plan from {@link placedObservation}. */
export function placedPlan(one: PlacedCase): Plan {
  const { of = fleetWithFallback(), goal = { kind: 'converge' } } = one;
  const targets = one.targets ?? of.nodes.map(({ name }) => name);
  return makePlan({ goal, desired: of, observation: placedObservation(one), targets });
}

/** An observation of Macs that match the file except for the placement and its gateways. */
export function placedObservation(one: Omit<PlacedCase, 'goal' | 'targets'>): FleetObservation {
  const { of = fleetWithFallback(), ranks, away = [], held, shown = {}, closed } = one;
  const treeOf = (kind: ObservedTree['kind'], { name, digest }: { name: string; digest?: Digest }): ObservedTree => ({
    kind,
    name,
    digest: digest === undefined ? '' : shortDigest(digest),
    state: 'intact',
    isCurrent: true,
  });
  const runtimes = closed === undefined ? of.runtimes : [...of.runtimes, gateway];
  const trees = [...runtimes.map((own) => treeOf('runtime', own)), ...of.models.map((own) => treeOf('model', own))];
  const values = of.nodes.map(({ name }) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    const shownGateways = closed === undefined ? {} : gatewayFacts(of, name, { ranks, closed });
    return [name, { ...facts, trees, hold: name === held ? [hold] : [], ...shownGateways, ...shown[name] }];
  });
  return observeMesh(of, { ranks, values: Object.fromEntries(values), unreachable: away });
}

/** The plan's steps for `kimi`, except those that write service files. */
export const ofPlacement = ({ steps }: Plan): readonly string[] =>
  steps
    .filter(({ id }) => id.includes('/placement/kimi/') && !id.endsWith('/put-service'))
    .map(({ id }) => id.replace('/placement/kimi/', ' '));
/** The plan's changes of `kimi`: node, from, to. */
export const changesOf = ({ changes }: Plan) =>
  changes.filter(({ resource }) => resource === 'placement/kimi').map(({ node, from, to }) => [node, from, to]);

const gateway: NonNullable<DesiredFleet['gateway']> = {
  name: 'gateway',
  archive: '/dist/node.tar.gz',
  program: 'node/bin/node',
  extras: [],
  sha256: digestOf('node'),
  digest: digestOf('node'),
};

/** The fleet with its fallback, in which `kimi` is published and has a gateway on studio-1 and on studio-4. */
export const published = (placement: Parameters<typeof fleetWithFallback>[0] = {}): DesiredFleet => ({
  ...fleetWithFallback({ publication: { servedName: 'kimi' }, ...placement }),
  gateway,
});

const intact = (path: string, digest: string): InstalledFile => ({ path, digest, state: 'intact' });

function filesOf(of: DesiredFleet, wanted: WantedGateway, isClosed: boolean): readonly InstalledFile[] {
  const { config, plist } = gatewayFiles(of, wanted);
  return [
    intact(gatewayConfig(wanted.port).path, textDigest(config)),
    intact(gatewayPlist(wanted.port).path, textDigest(plist)),
    ...(isClosed ? [intact(closedFile(wanted.port, 'kimi').path, '00')] : []),
  ];
}

const statusOf = (of: DesiredFleet, wanted: WantedGateway): GatewayStatus => ({
  kind: 'answered',
  port: wanted.port,
  version: gatewayFiles(of, wanted).version,
  strangers: 0,
  endpoints: wanted.placements.map(({ name }) => endpointStatus({ placement: name })),
});

const serviceOf = ({ port, placements }: WantedGateway): LaunchdService => ({
  label: gatewayLabel(port),
  state: 'running',
  pid: 9,
  behind: placements.map(({ name }) => name),
});

type GatewayCase = PlacedCase & Required<Pick<PlacedCase, 'closed'>>;

function gatewayFacts(of: DesiredFleet, name: NodeName, { ranks, closed }: GatewayCase): Partial<FactValues> {
  const gateways = wantedGateways(of, name);
  return {
    files: gateways.flatMap((one) => filesOf(of, one, closed.includes(name))),
    gateways: gateways.map((one) => statusOf(of, one)),
    services: [...(ranks[name] ?? []).map(rankService), ...gateways.map(serviceOf)],
  };
}

/** A plan like {@link placedPlan} for the fleet {@link published}, with its gateways. */
export const gatewayPlan = (one: GatewayCase): Plan => placedPlan({ of: published(), ...one });

/** The plan's changes of gateways: `studio-1: closed -> open`. */
export const gatewayChanges = ({ changes }: Plan): readonly string[] =>
  changes
    .filter(({ resource }) => resource.endsWith('/endpoint'))
    .map(({ node, from, to }) => `${node}: ${from} -> ${to}`);

/** The nodes whose gateway the plan closes or opens, with the step's verb: `studio-1 open-endpoint`. */
export const gatewaySteps = ({ steps }: Plan): readonly string[] =>
  steps.flatMap(({ id, node }) => {
    const verb = /(close-endpoint|open-endpoint|endpoint\/open|endpoint\/close)$/.exec(id)?.[1];
    return verb === undefined ? [] : [`${node} ${verb}`];
  });
