import type { Mesh } from '../mesh/judge-mesh.ts';
import { leftoversOn } from '../mesh/leftovers.ts';
import { placementAddress } from '../mesh/mesh-step.ts';
import { meshWords } from '../mesh/mesh-words.ts';
import { spentNodes } from '../mesh/spent-nodes.ts';
import type { KeptFile } from '../model/fact-values.ts';
import type { Json } from '../model/json.ts';
import { type Known, known, unknown } from '../model/known.ts';
import type { RankConfiguration } from '../runtimes/configure-placement.ts';
import { textDigest } from '../script/put-file.ts';
import { serviceFile } from '../script/rank-paths.ts';
import { type PlacementCase, placementCases } from './placement-cases.ts';
import type { ObservedTarget, Property, ResourceKind, View } from './resource.ts';
import { knownWords, mapKnown } from './seen-fact.ts';

const always: readonly ResourceKind[] = ['identity', 'sudo'];
const toStart: readonly ResourceKind[] = [...always, 'macos', 'wired-limit', 'runtime', 'model'];
const onCables: readonly ResourceKind[] = ['thunderbolt-bridge', 'thunderbolt-link', 'link-address'];

/** What has to be in order before a placement is started: cables only where there is more than one rank. */
function before({ placement }: PlacementCase): readonly ResourceKind[] {
  if (placement.state === 'stopped') return always;
  const cables = placement.nodes.length > 1 ? onCables : [];
  return [...toStart, ...cables, ...(placement.transport === 'rdma' ? (['rdma'] as const) : [])];
}

/** The one property that says whether a placement is as the file wants it. */
export function placementProperty(one: PlacementCase): Property {
  const { placement, leader, mesh, strangers } = one;
  const nodes = [...placement.nodes, ...strangers.map(({ node }) => node)];
  const observed = observedState(one);
  const words = [meshWords(mesh), ...strangers.map(({ node }) => `left over on ${node}`)].join(', ');
  return {
    node: leader,
    address: placementAddress(placement.name),
    desired: desiredState(one),
    observed,
    from: observed.kind === 'known' ? words : `unknown: ${observed.detail}`,
    to: placement.state,
    reason: `placements.${placement.name}.state: ${placement.state}`,
    peers: nodes.filter((node) => node !== leader),
    after: before(one),
  };
}

const desiredState = ({ placement, configuration }: PlacementCase): Json =>
  placement.state === 'stopped'
    ? { state: 'stopped' }
    : { state: 'serving', digest: configuration.kind === 'configured' ? configuration.digest : null };

function observedState(one: PlacementCase): Known<Json> {
  const { placement, mesh, configuration, strangers } = one;
  if (mesh.state === 'unknown') return unknown(mesh.unknownReason ?? 'failed', mesh.evidence);
  const left = strangers.length === 0 ? {} : { leftOn: strangers.map(({ node }) => node) };
  if (placement.state === 'stopped') return known({ state: isIdle(mesh) ? 'stopped' : mesh.state, ...left });
  if (configuration.kind === 'incomplete') return unknown('not-asked', `it cannot be judged: ${configuration.missing}`);
  if (mesh.state === 'serving') return known({ state: 'serving', digest: configuration.digest, ...left });
  const spent = placement.transport === 'rdma' ? spentNodes(mesh.members) : known([]);
  return spent.kind === 'unknown' ? spent : known({ state: mesh.state, ...left });
}

/** No process of it is left: a reboot may have loaded its services again, which starts nothing. */
export const isIdle = ({ state }: Mesh): boolean => ['absent', 'stopped', 'ready', 'dead'].includes(state);

/** `placement/kimi/service-file`. */
export const serviceFileAddress = (placement: string): string => `${placementAddress(placement)}/service-file`;

/**
 * The service file of each member of a placement that serves as the file says: what a later boot would load. Every
 * start writes them anyway, so that otherwise nobody keeps them.
 */
function serviceFileProperties(one: PlacementCase, targets: readonly ObservedTarget[]): readonly Property[] {
  const { placement, mesh, configuration } = one;
  if (placement.state === 'stopped' || mesh.state !== 'serving' || configuration.kind === 'incomplete') return [];
  return configuration.ranks.flatMap((rank) =>
    targets.filter(({ desired }) => desired.name === rank.node).map((target) => serviceFileProperty(rank, target)),
  );
}

function serviceFileProperty({ record, service }: RankConfiguration, { desired, facts }: ObservedTarget): Property {
  const { path } = serviceFile(record.placement);
  const observed = mapKnown(facts.files, (files) =>
    fileState(
      files.find((file) => file.path === path),
      textDigest(service),
    ),
  );
  return {
    node: desired.name,
    address: serviceFileAddress(record.placement),
    desired: 'intact',
    observed,
    from: `service file ${knownWords(observed, (state) => state)}`,
    to: 'service file intact',
    reason: `placements.${record.placement}`,
    after: always,
  };
}

function fileState(file: KeptFile | undefined, digest: string): 'intact' | 'changed' | 'missing' {
  if (file === undefined) return 'missing';
  return file.state === 'intact' && file.digest !== digest ? 'changed' : file.state;
}

/** The address under which a node keeps nothing of placements that the file does not have. */
export const leftoverAddress = 'placement';

/** Names of what is left over on a node of placements that left the file. */
function leftoverProperty({ desired }: View, { desired: { name: node }, facts }: ObservedTarget): Property {
  const names = desired.placements.map(({ name }) => name);
  const observed = mapKnown(leftoversOn(node, facts, names), (leftovers) =>
    leftovers.map(({ placement }) => placement),
  );
  return {
    node,
    address: leftoverAddress,
    desired: [],
    observed,
    from: knownWords(observed, (left) => `${left.join(', ')} left over`),
    to: 'nothing left over',
    reason: 'placements',
    after: always,
  };
}

/** Every property of placements. */
export function placementProperties(view: View): readonly Property[] {
  const cases = placementCases(view);
  return [
    ...view.targets.map((target) => leftoverProperty(view, target)),
    ...cases.map(placementProperty),
    ...cases.flatMap((one) => serviceFileProperties(one, view.targets)),
  ];
}
