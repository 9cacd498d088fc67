import { nameInFile, otherReplicas } from '../../../desired/replicas.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { InstalledFile } from '../../../model/facts/fact-values.ts';
import { andThen, type Known, mapKnown, seenValue } from '../../../model/known.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Act, Step, Text } from '../../../model/step.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import { gatewayKeysFile, replicasFile } from '../../../node/paths/own-paths.ts';
import { textDigest } from '../../../node/put-file.ts';
import { buildStep, type StepParts } from '../../build-step.ts';
import { compared } from '../../compare-values.ts';
import { read } from '../../fact.ts';
import { filesFact } from '../../records/files-fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import type { ObservedTarget, Property } from '../../resource.ts';
import { type PublishedPlacement, type WantedGateway, wantedKeys, wantedReplicas } from './gateways.ts';

export interface GatewayObservation {
  readonly files: readonly InstalledFile[];
  readonly services: readonly LaunchdService[];
}

export const gatewaysSeen = ({ facts }: ObservedTarget): Known<GatewayObservation> =>
  andThen(read(facts, filesFact), (files) => mapKnown(read(facts, servicesFact), (services) => ({ files, services })));

export interface GatewayWork {
  readonly fleet: DesiredFleet;
  readonly target: ObservedTarget;
  readonly seen: GatewayObservation;
  readonly makes: readonly Property[];
}

/** Deadline for writing a file and for its immediate effect. */
export const putDeadlineMs = 30_000;

export const stepFor = (name: string, act: Act, rest: Omit<StepParts, 'name' | 'act' | 'class'>): Step =>
  buildStep({ name, class: 'converge', act, ...rest });

export const putAct = (path: NodePath, content: Text): Act => ({ kind: 'put', path, mode: 0o644, content });

const keysAddress = (port: number, placement: string): Addressed =>
  addressed({ kind: 'gateway', port, placement, part: 'keys' });

const stateWords: Readonly<Record<string, string>> = { absent: 'missing', changed: 'different from the file' };

/**
 * A placement's key file. If a key cannot be read, this file remains unchanged, because that key's hash may be in it.
 * Empty if the keys were not read: a command that only stops or starts placements does not need them.
 */
function keysProperty(target: ObservedTarget, port: number, placement: PublishedPlacement): readonly Property[] {
  const keys = wantedKeys(placement);
  if (keys === undefined) return [];
  const { name } = placement;
  const desired = keys.kind === 'unknown' ? 'unknown' : shortDigest(textDigest(keys.value));
  const observed = andThen(keys, () =>
    mapKnown(gatewaysSeen(target), ({ files }) => fileState(files, gatewayKeysFile(port, name).path)),
  );
  return [
    {
      node: target.desired.name,
      ...keysAddress(port, name),
      ...compared(desired, observed, (value) =>
        value === desired ? "the file's keys" : (stateWords[value] ?? 'other keys'),
      ),
      reason: `placements.${nameInFile(placement)}.endpoint.apiKey`,
      ...(keys.kind === 'unknown' && { why: keys.detail }),
    },
  ];
}

/** The first digits of a file's digest, or the reason why they do not count. */
function fileState(files: readonly InstalledFile[], path: string): string {
  const found = files.find((one) => one.path === path);
  if (found === undefined || found.state === 'missing') return 'absent';
  return found.state === 'intact' ? found.digest.slice(0, 16) : found.state;
}

const replicasAddress = (port: number, placement: string): Addressed =>
  addressed({ kind: 'gateway', port, placement, part: 'replicas' });

/** The list of the other replicas, which the gateway reads again when it changes. */
function replicasProperty(
  fleet: DesiredFleet,
  target: ObservedTarget,
  { port, placement }: { readonly port: number; readonly placement: PublishedPlacement },
): readonly Property[] {
  const text = wantedReplicas(fleet, placement);
  if (text === undefined) return [];
  const { path } = replicasFile(port, placement.name);
  const desired = shortDigest(textDigest(text));
  const count = otherReplicas(fleet, placement).length;
  const observed = mapKnown(gatewaysSeen(target), ({ files }) => fileState(files, path));
  const words = (value: string): string =>
    value === desired ? `${count} other replica${count === 1 ? '' : 's'}` : (stateWords[value] ?? 'a different list');
  return [
    {
      node: target.desired.name,
      ...replicasAddress(port, placement.name),
      ...compared(desired, observed, words),
      reason: `placements.${nameInFile(placement)}.replicas`,
    },
  ];
}

/** Whether a gateway's keys and lists of replicas match the file. The gateway reads them again when they change. */
export const readAgainProperties = (
  fleet: DesiredFleet,
  target: ObservedTarget,
  { port, placements }: WantedGateway,
): readonly Property[] =>
  placements.flatMap((placement) => [
    ...keysProperty(target, port, placement),
    ...replicasProperty(fleet, target, { port, placement }),
  ]);

/** Writes each of these files that changes; these steps do not wait for each other. */
export function readAgainSteps({ fleet, makes }: GatewayWork, { port, placements }: WantedGateway): readonly Step[] {
  const put = ({ address }: Addressed, path: NodePath, content: Text | undefined): readonly Step[] => {
    const property = makes.find((one) => one.address === address);
    if (property === undefined || content === undefined) return [];
    return [stepFor(`${address}/put`, putAct(path, content), { makes: [property], deadlineMs: putDeadlineMs })];
  };
  return [
    ...placements.flatMap((one) =>
      put(keysAddress(port, one.name), gatewayKeysFile(port, one.name), seenValue(wantedKeys(one))),
    ),
    ...placements.flatMap((one) =>
      put(replicasAddress(port, one.name), replicasFile(port, one.name), wantedReplicas(fleet, one)),
    ),
  ];
}
