import type { DesiredFleet } from '../../model/desired.ts';
import type { LaunchdService } from '../../model/facts/daemons.ts';
import type { KeptFile } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { NodePath } from '../../model/probe.ts';
import type { Text } from '../../model/step.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import {
  closedFolder,
  doormanConfig,
  doormanLabel,
  doormanPlist,
  doormanPort,
  doormenFolder,
} from '../../node/paths/own-paths.ts';
import { textDigest } from '../../node/put-file.ts';
import { read } from '../fact.ts';
import { doormanFiles, doormenOn, type WantedDoorman } from '../placement/doors/gateways.ts';
import { filesFact } from '../records/files-fact.ts';
import { doormenFact } from '../records/gateways-fact.ts';
import { servicesFact } from '../records/services-fact.ts';
import type { ObservedTarget, Property, View } from '../resource.ts';
import { knownWords } from '../seen-fact.ts';
import { doorProperties } from './gateway-doors.ts';
import { keysProperties } from './gateway-keys.ts';

/** The address of the doorman at a port. */
export const doormanAddress = (port: number): Addressed => addressed({ kind: 'doorman', port });

/** What is seen of all doormen of a node. */
export interface DoormenSight {
  readonly files: readonly KeptFile[];
  readonly services: readonly LaunchdService[];
}

/** What is seen of the doormen of a node; unknown where its files or its services are. */
export function doormenSeen({ facts }: ObservedTarget): Known<DoormenSight> {
  const files = read(facts, filesFact);
  const services = read(facts, servicesFact);
  if (files.kind === 'unknown') return files;
  if (services.kind === 'unknown') return services;
  return known({ files: files.value, services: services.value });
}

/** Every property of the doormen of one node. */
export function doormanProperties(view: View, target: ObservedTarget): readonly Property[] {
  const fleet = view.desired;
  const wanted = doormenOn(fleet, target.desired.name);
  return [
    ...wanted.flatMap((one) => [
      programProperty(fleet, one, target),
      ...keysProperties(target.desired.name, one, doormenSeen(target)),
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
  const observed: Known<string> = seen.kind === 'unknown' ? seen : stateSeen(seen.value);
  function stateSeen(sight: DoormenSight): Known<string> {
    const state = stateOf(sight);
    const service = sight.services.find(({ label }) => label === doormanLabel(port));
    if (state !== version || service?.behind !== undefined) return known(state);
    return unknown('failed', `Nobody could tell whether the doorman listens on port ${port}.`);
  }
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
  const doormen = read(facts, doormenFact);
  const said = doormen.kind === 'known' ? doormen.value.find((one) => one.port === port) : undefined;
  return said?.kind !== 'answered' || said.version === version;
}

const hasFiles = (files: readonly KeptFile[], port: number): boolean => {
  const own = [doormanPlist(port), doormanConfig(port)].map(({ path }) => path);
  return files.some(({ path, state }) => own.includes(path) && state !== 'missing');
};

/** Ports at which a doorman of an earlier file stands. */
function leftPorts(wanted: readonly WantedDoorman[], target: ObservedTarget): readonly number[] {
  const seen = doormenSeen(target);
  if (seen.kind === 'unknown') return [];
  const { services, files } = seen.value;
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

/** Placements that a doorman keeps closed. */
export function closedAt(port: number, { files }: DoormenSight): readonly string[] {
  const folder = `${closedFolder(port).path}/`;
  return files.flatMap(({ path }) => (path.startsWith(folder) ? [path.slice(folder.length)] : [])).toSorted();
}
