import type { DesiredFleet } from '../../../model/desired.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { KeptFile } from '../../../model/facts/fact-values.ts';
import { andThen, type Known, known, mapKnown, seenValue, unknown } from '../../../model/known.ts';
import { oncePer } from '../../../model/lists.ts';
import type { NodeName } from '../../../model/node.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Step, Text } from '../../../model/step.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import {
  closedFolder,
  doormanConfig,
  doormanKeysFile,
  doormanLabel,
  doormanPlist,
  doormanPort,
  doormenFolder,
  keysFolder,
} from '../../../node/paths/own-paths.ts';
import { textDigest } from '../../../node/put-file.ts';
import { buildStep } from '../../build-step.ts';
import { read, readValue } from '../../fact.ts';
import { filesFact } from '../../records/files-fact.ts';
import { doormenFact } from '../../records/gateways-fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import type { ObservedTarget, Property, View } from '../../resource.ts';
import { knownWords } from '../../seen-fact.ts';
import { doorsOf } from '../placement-steps.ts';
import { everyCase, type PlacementCase } from '../state/placement-cases.ts';
import { doorAddress } from './doors.ts';
import { doormanFiles, doormenOn, type PublishedPlacement, type WantedDoorman, wantedKeys } from './gateways.ts';
import { isClosed } from './seen-doors.ts';

/** What keeps the doors of a placement from being opened apart from its mesh. */
type Awaited =
  /** The start of the placement opens these, behind its token. */
  | { readonly kind: 'start'; readonly doors: readonly string[] }
  /** Nobody knows whether anything serves behind them. */
  | { readonly kind: 'unknown' };

const doorKey = (node: string, port: number): string => `${node} ${port}`;

const startOf = (one: PlacementCase): Awaited => ({
  kind: 'start',
  doors: doorsOf(one).map(({ leader, port }) => doorKey(leader, port)),
});

/** One that goes on on its fallback is judged there; one that is moved back has its doors opened by that move. */
function awaitedOf({ elsewhere, ...own }: PlacementCase, { staying }: View): Awaited | undefined {
  const { name } = own.placement;
  if (elsewhere !== undefined && !staying.includes(name)) return startOf(own);
  const one = elsewhere ?? own;
  if (one.mesh.state === 'serving') return undefined;
  return one.mesh.state === 'unknown' ? { kind: 'unknown' } : startOf(one);
}

const allAwaited = oncePer((view: View): ReadonlyMap<string, Awaited> => {
  // A run limited to some nodes leaves a placement alone that it cannot judge, but its closed door all the same is not opened.
  const wanted = everyCase(view).filter(({ placement }) => placement.state === 'serving');
  return new Map(
    wanted.flatMap((one) => {
      const awaited = awaitedOf(one, view);
      return awaited === undefined ? [] : [[one.placement.name, awaited]];
    }),
  );
});

/** Whether each door of a doorman is open or closed, but for those that a start of their placement opens. */
function doorProperties(view: View, { port, placements }: WantedDoorman, target: ObservedTarget): readonly Property[] {
  const awaited = allAwaited(view);
  return placements.flatMap((placement) => {
    const kept = awaited.get(placement.name);
    if (kept?.kind === 'start' && kept.doors.includes(doorKey(target.desired.name, port))) return [];
    const property = doorProperty(port, placement, target);
    return [kept?.kind === 'unknown' ? unlessClosed(property, placement.name) : property];
  });
}

function doorProperty(
  port: number,
  { name, state }: WantedDoorman['placements'][number],
  target: ObservedTarget,
): Property {
  const observed = mapKnown(isClosed(target, port, name), (closed) => (closed ? 'closed' : 'open'));
  const to = state === 'stopped' ? 'closed' : 'open';
  return {
    node: target.desired.name,
    ...doorAddress(port, name),
    desired: to,
    observed,
    from: knownWords(observed, (value) => value),
    to,
    reason: `placements.${name}.state: ${state}`,
    after: ['identity', 'sudo'],
  };
}

/** A closed door waits where nothing may be behind it. */
function unlessClosed(property: Property, placement: string): Property {
  const { observed } = property;
  if (observed.kind === 'unknown' || observed.value === 'open') return property;
  const why = `it is closed, and nobody could tell whether ${placement} serves`;
  return { ...property, observed: unknown('failed', why), why };
}

const putDeadlineMs = 30_000;

/** The files that were put on a node. */
type Kept = Pick<DoormenSight, 'files'>;

/** The address of the key file of a placement. */
const keysAddress = (port: number, placement: string): Addressed =>
  addressed({ kind: 'doorman', port, placement, part: 'keys' });

const keysWords: Readonly<Record<string, string>> = { absent: 'not there', changed: 'not as the file wants it' };

/**
 * The key file of a placement. A key that cannot be read leaves that one file as it is, since its hash
 * may be among those there, and no other. Nothing where nobody has tried to read the keys: a verb that only stops or
 * starts what was applied needs none.
 */
function keysProperty(
  node: NodeName,
  port: number,
  placement: PublishedPlacement,
  seen: Known<Kept>,
): readonly Property[] {
  const keys = wantedKeys(placement);
  if (keys === undefined) return [];
  const { name } = placement;
  const about = { node, ...keysAddress(port, name), to: 'the keys of the file', reason: reasonOf(name) } as const;
  if (keys.kind === 'unknown') {
    const from = knownWords(keys, () => '');
    return [{ ...about, desired: 'unknown', observed: keys, from, why: keys.detail }];
  }
  const desired = shortDigest(textDigest(keys.value));
  const observed = mapKnown(seen, (kept) => keyStateOf(kept, port, name));
  const from = knownWords(observed, (value) => (value === desired ? 'as wanted' : (keysWords[value] ?? 'other keys')));
  return [{ ...about, desired, observed, from }];
}

const reasonOf = (placement: string): string => `placements.${placement}.endpoint.apiKey`;

function keyStateOf({ files }: Kept, port: number, placement: string): string {
  const { path } = doormanKeysFile(port, placement);
  const kept = files.find((one) => one.path === path);
  if (kept === undefined || kept.state === 'missing') return 'absent';
  return kept.state === 'intact' ? kept.digest.slice(0, 16) : kept.state;
}

/** Puts each key file that is to be another one; none of them waits for another. */
export function keysSteps({ port, placements }: WantedDoorman, makes: readonly Property[]): readonly Step[] {
  return placements.flatMap((placement) => {
    const property = makes.find(({ address }) => address === keysAddress(port, placement.name).address);
    const keys = wantedKeys(placement);
    if (property === undefined || keys?.kind !== 'known') return [];
    const path = doormanKeysFile(port, placement.name);
    return [
      buildStep({
        node: property.node,
        resource: 'doorman',
        name: `${property.address}/put`,
        class: 'converge',
        act: { kind: 'put', path, mode: 0o644, content: keys.value },
        makes: [property],
        deadlineMs: putDeadlineMs,
      }),
    ];
  });
}

/** Placements for which a key file lies at a doorman, whether they are behind it or not. */
export const keyedAt = (port: number, seen: Kept): readonly string[] => namesIn(keysFolder(port), seen);

/** Placements that a doorman keeps closed. */
export const closedAt = (port: number, seen: Kept): readonly string[] => namesIn(closedFolder(port), seen);

const namesIn = ({ path: folder }: NodePath, { files }: Kept): readonly string[] =>
  files.flatMap(({ path }) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [])).toSorted();

/** The address of the doorman at a port. */
export const doormanAddress = (port: number): Addressed => addressed({ kind: 'doorman', port });

/** What is seen of all doormen of a node. */
export interface DoormenSight {
  readonly files: readonly KeptFile[];
  readonly services: readonly LaunchdService[];
}

/** What is seen of the doormen of a node; unknown where its files or its services are. */
export const doormenSeen = ({ facts }: ObservedTarget): Known<DoormenSight> =>
  andThen(read(facts, filesFact), (files) => mapKnown(read(facts, servicesFact), (services) => ({ files, services })));

/** Every property of the doormen of one node. */
export function doormanProperties(view: View, target: ObservedTarget): readonly Property[] {
  const fleet = view.desired;
  const wanted = doormenOn(fleet, target.desired.name);
  return [
    ...wanted.flatMap((one) => [
      programProperty(fleet, one, target),
      ...one.placements.flatMap((placement) =>
        keysProperty(target.desired.name, one.port, placement, doormenSeen(target)),
      ),
      ...doorProperties(view, one, target),
    ]),
    ...leftPorts(wanted, target).map((port) => leftProperty(port, target)),
  ];
}

const stateWords: Readonly<Record<string, string>> = {
  absent: 'not there',
  changed: 'not as the file wants it',
  stopped: 'does not run',
  'not-listening': 'not listening',
};

const words = (value: string): string => stateWords[value] ?? `version ${value}`;

/** Whether a file lies there, whole, as it is to be. */
export const isAsWanted = (files: readonly KeptFile[], path: NodePath, content: Text): boolean =>
  files.some((one) => one.path === path.path && one.state === 'intact' && one.digest === textDigest(content));

function programProperty(fleet: DesiredFleet, wanted: WantedDoorman, target: ObservedTarget): Property {
  const { config, plist, version } = doormanFiles(fleet, wanted);
  const { port } = wanted;
  const seen = doormenSeen(target);
  const observed = andThen(seen, (sight): Known<string> => {
    const state = stateOf(sight);
    const service = sight.services.find(({ label }) => label === doormanLabel(port));
    if (state !== version || service?.behind !== undefined) return known(state);
    return unknown('failed', `Nobody could tell whether the doorman listens on port ${port}.`);
  });
  function stateOf({ files, services }: DoormenSight): string {
    const service = services.find(({ label }) => label === doormanLabel(port));
    if (!hasFiles(files, port) && service === undefined) return 'absent';
    const isWhole = isAsWanted(files, doormanConfig(port), config) && isAsWanted(files, doormanPlist(port), plist);
    if (!isWhole) return 'changed';
    if (service?.state !== 'running') return 'stopped';
    const names = wanted.placements.map(({ name }) => name);
    if (names.some((name) => service.behind?.includes(name) === false)) return 'not-listening';
    // Its files may have been put by a run that ended before it loaded them.
    const isOther =
      service.behind?.some((name) => !names.includes(name)) === true || !isOfVersion(version, port, target);
    return isOther ? 'changed' : version;
  }
  return {
    node: target.desired.name,
    ...doormanAddress(port),
    desired: version,
    observed,
    from: knownWords(observed, words),
    to: words(version),
    reason: `endpoint of ${wanted.placements.map(({ name }) => name).join(', ')}: listen: lan`,
    ...(seen.kind === 'known' && observed.kind === 'unknown' ? { why: observed.detail } : {}),
  };
}

/** Whether the process at a port was started with these files, as far as it was heard; an older doorman does not say it. */
function isOfVersion(version: string, port: number, { facts }: ObservedTarget): boolean {
  const said = readValue(facts, doormenFact)?.find((one) => one.port === port);
  return said?.kind !== 'answered' || said.version === version;
}

const hasFiles = (files: readonly KeptFile[], port: number): boolean => {
  const own = [doormanPlist(port), doormanConfig(port)].map(({ path }) => path);
  return files.some(({ path, state }) => own.includes(path) && state !== 'missing');
};

/** Ports at which a doorman of an earlier file stands. */
function leftPorts(wanted: readonly WantedDoorman[], target: ObservedTarget): readonly number[] {
  const { services, files } = seenValue(doormenSeen(target)) ?? { services: [], files: [] };
  const inFolder = files.flatMap(({ path, state }) => (state === 'missing' ? [] : (portOfFile(path) ?? [])));
  const ports = [...services.flatMap(({ label }) => doormanPort(label) ?? []), ...inFolder];
  return [...new Set(ports)].filter((port) => !wanted.some((one) => one.port === port)).toSorted((a, b) => a - b);
}

function portOfFile(path: string): number | undefined {
  const anyFolder = `${doormenFolder.path}/`;
  const digits = path.startsWith(anyFolder) ? (path.slice(anyFolder.length).split('/')[0] ?? '') : '';
  return /^\d{1,5}$/.test(digits) ? Number(digits) : undefined;
}

const leftProperty = (port: number, target: ObservedTarget): Property => ({
  node: target.desired.name,
  ...doormanAddress(port),
  desired: 'absent',
  observed: known('left over'),
  from: 'left over',
  to: 'not there',
  reason: 'no endpoint of this port is published',
});
