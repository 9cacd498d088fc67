import type { Goal } from '../../../src/engine/goals/goal.ts';
import type { FactValues } from '../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../src/model/digest.ts';
import type { KeptFile } from '../../../src/model/facts/fact-values.ts';
import type { LaunchdService } from '../../../src/model/facts/launchd-service.ts';
import type { DoormanSight } from '../../../src/model/gateway.ts';
import type { NodeName } from '../../../src/model/node.ts';
import { closedFile, doormanConfig, doormanLabel, doormanPlist } from '../../../src/node/paths/gateway-paths.ts';
import { textDigest } from '../../../src/node/put-file.ts';
import { doormanFiles, doormenOn, type WantedDoorman } from '../../../src/rack/placement/doors/gateways.ts';
import { doorSight } from '../doorman/door-sight.ts';
import { type MeshRack, observeMesh, rankService } from '../mesh/rack-with-mesh.ts';
import { settledFacts } from '../resources/settled-rack.ts';
import { makePlan } from './made-plan.ts';
import { fleet } from './rack-with-fallback.ts';

const doorman: NonNullable<DesiredFleet['doorman']> = {
  name: 'doorman',
  archive: '/dist/node.tar.gz',
  program: 'node/bin/node',
  extras: [],
  sha256: digestOf('node'),
  digest: digestOf('node'),
};

/** The fleet with its fallback, in which `kimi` is published and has a doorman on studio-1 and on studio-4. */
export const published = (placement: Parameters<typeof fleet>[0] = {}): DesiredFleet => ({
  ...fleet({ publication: { servedName: 'kimi' }, ...placement }),
  doorman,
});

/** What nodes show, all of them with the doormen of the file. */
export interface DoorCase {
  readonly of?: DesiredFleet;
  readonly members: MeshRack['members'];
  /** Nodes on which the door of `kimi` is closed. */
  readonly closed: readonly string[];
  readonly goal?: Goal;
  readonly away?: readonly string[];
  readonly held?: string;
  /** Absent: every node. */
  readonly targets?: readonly NodeName[];
}

const intact = (path: string, digest: string): KeptFile => ({ path, digest, state: 'intact' });

function filesOf(of: DesiredFleet, wanted: WantedDoorman, isClosed: boolean): readonly KeptFile[] {
  const { config, plist } = doormanFiles(of, wanted);
  return [
    intact(doormanConfig(wanted.port).path, textDigest(config)),
    intact(doormanPlist(wanted.port).path, textDigest(plist)),
    ...(isClosed ? [intact(closedFile(wanted.port, 'kimi').path, '00')] : []),
  ];
}

const sightOf = (of: DesiredFleet, wanted: WantedDoorman): DoormanSight => ({
  kind: 'answered',
  port: wanted.port,
  version: doormanFiles(of, wanted).version,
  strangers: 0,
  doors: wanted.placements.map(({ name }) => doorSight({ placement: name })),
});

const serviceOf = ({ port, placements }: WantedDoorman): LaunchdService => ({
  label: doormanLabel(port),
  state: 'running',
  pid: 9,
  behind: placements.map(({ name }) => name),
});

function factsOf(of: DesiredFleet, name: NodeName, { members, closed, held }: DoorCase): Partial<FactValues> {
  const { placements: _, services: __, ...facts } = settledFacts(name);
  const doormen = doormenOn(of, name);
  const trees = [...of.runtimes, ...of.models, doorman].map((one, at) => ({
    kind: at === 1 ? ('model' as const) : ('runtime' as const),
    name: one.name,
    digest: one.digest === undefined ? '' : shortDigest(one.digest),
    state: 'intact' as const,
    isCurrent: true,
  }));
  const hold = { reason: 'power supply', by: 'ana@laptop', since: '2026-11-21', isOver: false };
  return {
    ...facts,
    trees,
    files: [...facts.files, ...doormen.flatMap((one) => filesOf(of, one, closed.includes(name)))],
    doormen: doormen.map((one) => sightOf(of, one)),
    services: [...(members[name] ?? []).map(rankService), ...doormen.map(serviceOf)],
    hold: name === held ? [hold] : [],
  };
}

/** A plan for Macs on which all but the placement and its doors is as the file says. */
export function doorPlan(one: DoorCase): Plan {
  const { of = published(), members, goal = { kind: 'converge' }, away = [] } = one;
  const values = Object.fromEntries(of.nodes.map(({ name }) => [name, factsOf(of, name, one)]));
  const observation = observeMesh(of, { members, values, unreachable: away });
  return makePlan({ goal, desired: of, observation, targets: one.targets ?? of.nodes.map(({ name }) => name) });
}

/** Its changes of doors: `studio-1: closed -> open`. */
export const doorChanges = ({ changes }: Plan): readonly string[] =>
  changes.filter(({ resource }) => resource.endsWith('/door')).map(({ node, from, to }) => `${node}: ${from} -> ${to}`);

/** The nodes whose door it closes or opens, by the verb of the step: `studio-1 open-door`. */
export const doorSteps = ({ steps }: Plan): readonly string[] =>
  steps.flatMap(({ id, node }) => {
    const verb = /(close-door|open-door|door\/open|door\/close)$/.exec(id)?.[1];
    return verb === undefined ? [] : [`${node} ${verb}`];
  });
