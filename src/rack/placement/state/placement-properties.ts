import { nameInFile } from '../../../desired/replicas.ts';
import { madeFirst } from '../../../desired/settle/settle-runtime.ts';
import { reasonWords } from '../../../diagnostics/prose-text.ts';
import type { RankConfiguration } from '../../../drivers/configure-placement.ts';
import type { Json } from '../../../model/digest.ts';
import type { InstalledFile } from '../../../model/facts/fact-values.ts';
import { given } from '../../../model/given.ts';
import { type Known, known, mapKnown, unknown } from '../../../model/known.ts';
import { everyNodeText, type NodeName } from '../../../model/node.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import { layoutText } from '../../../model/text/units.ts';
import { serviceFile } from '../../../node/paths/own-paths.ts';
import { textDigest } from '../../../node/put-file.ts';
import { compared, knownWords } from '../../compare-values.ts';
import { read } from '../../fact.ts';
import { filesFact } from '../../records/files-fact.ts';
import type { ObservedTarget, Property, View } from '../../resource.ts';
import type { ResourceKind } from '../../resource-kind.ts';
import { leftGateways } from '../endpoint/seen-gateways.ts';
import { placementAddress, seenRanks, spentNodes } from '../mesh/rank-states.ts';
import { meshWords } from '../mesh/read-mesh.ts';
import { orphanedRanksOn } from '../mesh/stop-mesh.ts';
import { isIdle, type PlacementCase, placementCases, takesOfDevice } from './placement-cases.ts';
import { survivorProperties } from './survivors.ts';

const always: readonly ResourceKind[] = ['identity', 'sudo'];
const toStart: readonly ResourceKind[] = [
  ...always,
  'accounts',
  'macos',
  'firewall',
  'wired-limit',
  'runtime',
  'model',
];

const onCables: readonly ResourceKind[] = ['thunderbolt-bridge', 'thunderbolt-link', 'link-address'];

/** Requests in flight at an old gateway are answered before the ranks behind it stop. */
const leavingGateways: readonly ResourceKind[] = ['gateway'];

/** Requirements of a start that no restart of a Mac provides: `apply` or a person has to. */
export const toComeBack: readonly ResourceKind[] = ['accounts', 'macos', 'firewall', 'runtime', 'model'];

/** Requirements of a start; cables are needed only for more than one rank. */
function startNeeds({ nodes, transport }: PlacementCase['placement']): readonly ResourceKind[] {
  const cables = nodes.length > 1 ? onCables : [];
  return [...toStart, ...cables, ...(transport === 'rdma' ? (['rdma'] as const) : [])];
}

/** A placement that answers is not stopped while its next start has a blocker. */
function before({ placement, leftGateways: left, comesBack }: PlacementCase): readonly ResourceKind[] {
  const gateways = left.length > 0 ? leavingGateways : [];
  if (placement.state === 'serving' || comesBack === 'after-stop') return [...startNeeds(placement), ...gateways];
  return [...always, ...gateways, ...(comesBack === 'after-restart' ? toComeBack : [])];
}

export function placementProperty(one: PlacementCase): Property {
  const { placement, leader, orphanedRanks, elsewhere } = one;
  const left = [...seenRanks(elsewhere?.mesh.ranks ?? []), ...orphanedRanks].map(({ node }) => node);
  const nodes = [...new Set([...placement.nodes, ...left])];
  const observed = observedState(one);
  return {
    node: leader,
    ...placementAddress(placement.name),
    desired: desiredState(one),
    observed,
    from: observed.kind === 'known' ? fromWords(one) : `unknown: ${observed.detail}`,
    to: toWords(one),
    reason: `placements.${nameInFile(placement)}.state: ${placement.state}`,
    ...whyUnknown(one),
    peers: nodes.filter((node) => node !== leader),
    ...(one.comesBack === 'no' ? {} : { isAtStake: true }),
    after: before(one),
  };
}

/** What the start lacks, or the first unobserved rank, which the fact's reason does not name. */
function whyUnknown({ mesh, leader, configuration, runtime }: PlacementCase): Pick<Property, 'why' | 'knownAfter'> {
  if (!('reason' in mesh) && configuration.kind === 'incomplete') {
    return { why: configuration.missing, ...given({ knownAfter: runtime && madeFirst(runtime) }) };
  }
  const unseen = mesh.ranks.find(({ seen }) => seen.kind === 'unknown');
  if (mesh.state !== 'unknown' || unseen?.seen.kind !== 'unknown' || unseen.node === leader) return {};
  return { why: `${unseen.node}: ${reasonWords[unseen.seen.reason]}` };
}

/** The nodes on which it runs, if the file moves it to others on which it never ran. */
function movedFrom({ placement, mesh, orphanedRanks, elsewhere }: PlacementCase): readonly NodeName[] {
  const isNew = placement.state === 'serving' && mesh.state === 'not-placed';
  const hasFallback = placement.ownLayout !== undefined || elsewhere !== undefined;
  return isNew && !hasFallback ? orphanedRanks.filter(({ seen }) => seen.mayRun).map(({ node }) => node) : [];
}

/** Ranks of the other layout belong neither to this layout nor to another file. */
function fromWords(one: PlacementCase): string {
  const { mesh, orphanedRanks, elsewhere, ownRanks = [] } = one;
  const { ownLayout } = one.placement;
  if (elsewhere !== undefined) return `on its fallback: ${layoutText(elsewhere.placement)}`;
  const moved = movedFrom(one);
  if (moved.length > 0) return `running on ${everyNodeText(moved)}`;
  const isWhole = ownRanks.length === ownLayout?.nodes.length;
  const own = isWhole ? layoutText(ownLayout) : `ranks on ${ownRanks.join(', ')}`;
  const others = orphanedRanks.filter(({ node }) => !ownRanks.includes(node));
  const words = ownRanks.length === 0 ? meshWords(mesh) : `on its own nodes: ${own}`;
  return [words, ...others.map(({ node }) => `orphaned rank on ${node}`)].join(', ');
}

/** Names the layout only if a fallback is involved, and the nodes only if it moves. */
function toWords(one: PlacementCase): string {
  const { placement, elsewhere } = one;
  if (placement.state === 'stopped') return 'stopped';
  if (placement.ownLayout !== undefined) return `serving on its fallback: ${layoutText(placement)}`;
  if (movedFrom(one).length > 0) return `serving on ${everyNodeText(placement.nodes)}`;
  return elsewhere === undefined ? 'serving' : `serving on its own nodes: ${layoutText(placement)}`;
}

const desiredState = ({ placement, configuration }: PlacementCase): Json =>
  placement.state === 'stopped' ? { state: 'stopped' } : { state: 'serving', digest: configuration.digest ?? null };

function observedState(one: PlacementCase): Known<Json> {
  const { placement, mesh, configuration, orphanedRanks, comesBack } = one;
  if ('reason' in mesh) return unknown(mesh.reason, mesh.evidence);
  const spent = placement.transport === 'rdma' ? spentNodes(mesh.ranks, takesOfDevice(one)) : known([]);
  // Its start needs the count of starts, so its stop waits for this count, too.
  if (comesBack === 'after-stop' && spent.kind === 'unknown') return spent;
  const left = orphanedRanks.length === 0 ? {} : { leftOn: orphanedRanks.map(({ node }) => node) };
  if (placement.state === 'stopped') return known({ state: isIdle(mesh) ? 'stopped' : mesh.state, ...left });
  const { digest } = configuration;
  if (mesh.state === 'serving' && digest !== undefined) return known({ state: 'serving', digest, ...left });
  if (configuration.kind === 'incomplete') {
    const verb = digest === undefined ? 'checked' : 'started';
    return unknown('not-asked', `it cannot be ${verb}: ${configuration.missing}`);
  }
  return spent.kind === 'unknown' ? spent : known({ state: mesh.state, ...left });
}

/** `placement/kimi/service-file`. */
export const serviceFileAddress = (placement: string): Addressed =>
  addressed({ kind: 'placement', placement, part: 'service-file' });

/** The service files of a serving placement, for the next boot. In other states, the next start writes them anyway. */
function serviceFileProperties(one: PlacementCase, targets: readonly ObservedTarget[]): readonly Property[] {
  const { placement, mesh, configuration } = one;
  if (placement.state === 'stopped' || mesh.state !== 'serving' || configuration.kind === 'incomplete') return [];
  return configuration.ranks.flatMap((rank) =>
    targets.filter(({ desired }) => desired.name === rank.node).map((target) => serviceFileProperty(rank, target)),
  );
}

function serviceFileProperty({ record, service }: RankConfiguration, { desired, facts }: ObservedTarget): Property {
  const { path } = serviceFile(record.placement);
  const observed = mapKnown(read(facts, filesFact), (files) => fileState(files, path, textDigest(service)));
  return {
    node: desired.name,
    ...serviceFileAddress(record.placement),
    desired: 'intact',
    observed,
    from: `service file ${knownWords(observed, (state) => state)}`,
    to: 'service file intact',
    reason: `placements.${record.placement}`,
    after: always,
  };
}

function fileState(files: readonly InstalledFile[], path: string, digest: string): 'intact' | 'changed' | 'missing' {
  const file = files.find((one) => one.path === path);
  if (file === undefined) return 'missing';
  return file.state === 'intact' && file.digest !== digest ? 'changed' : file.state;
}

/** The address of a node's orphaned ranks from placements that are not in the file. */
export const orphanedRankAddress = addressed({ kind: 'placement' });

function orphanedRankProperty(view: View, { desired: { name: node }, facts }: ObservedTarget): Property {
  const { desired } = view;
  const names = desired.placements.map(({ name }) => name);
  const observed = mapKnown(orphanedRanksOn(node, facts, names), (orphanedRanks) =>
    orphanedRanks.map(({ placement }) => placement),
  );
  return {
    node,
    ...orphanedRankAddress,
    ...compared([], observed, (left) => `orphaned ranks of ${left.join(', ')}`, 'no orphaned ranks'),
    reason: 'placements',
    after: leftGateways(view).some(({ leader }) => leader === node) ? [...always, ...leavingGateways] : always,
  };
}

export function placementProperties(view: View): readonly Property[] {
  const cases = placementCases(view);
  return [
    ...view.targets.map((target) => orphanedRankProperty(view, target)),
    ...cases.map(placementProperty),
    ...cases.flatMap((one) =>
      survivorProperties(one, view, [...always, ...(one.leftGateways.length > 0 ? leavingGateways : [])]),
    ),
    ...cases.flatMap((one) => serviceFileProperties(one, view.targets)),
  ];
}
