import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, NetworkService } from '../../model/facts/fact-values.ts';
import { read, readValue } from '../fact.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { interfaceKind } from '../network/interfaces-reading.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { isLeftToKeeper } from '../network/services-reading.ts';
import { bridgePreferencesFact } from './fact.ts';

/** The places where macOS keeps the Thunderbolt Bridge. Each survives the removal of the others. */
export const bridgeLayerNames = ['interface', 'preferences', 'service'] as const;

export type BridgeLayer = (typeof bridgeLayerNames)[number];

export interface BridgeLayers {
  readonly present: readonly BridgeLayer[];
  readonly unknown: readonly BridgeLayer[];
  /** The bridges that are up, including those that people made. */
  readonly active: readonly ReceptacleBridge[];
  /** The bridges in the network preferences, including those that people made. */
  readonly preferred: readonly ReceptacleBridge[];
  readonly services: readonly NetworkService[];
}

type Presence = boolean | undefined;

function isThere(bridges: readonly ReceptacleBridge[] | undefined): Presence {
  if (bridges?.some(({ maker }) => maker === 'own')) return true;
  return bridges?.some(({ maker }) => maker === 'undecided') === false ? false : undefined;
}

/** Leaves out a service on a bridge that a person made, because it configures that person's network. */
function bridgeServices(facts: Facts, bridges: readonly ReceptacleBridge[]): readonly NetworkService[] {
  const services = readValue(facts, networkServicesFact) ?? [];
  const named = (maker: ReceptacleBridge['maker'], device: string | undefined): boolean =>
    bridges.some((bridge) => bridge.maker === maker && bridge.name === device);
  return services.filter(
    ({ port, device, isEnabled }) =>
      isEnabled && !named('made', device) && (port === 'Thunderbolt Bridge' || named('own', device)),
  );
}

export function bridgeLayers(desired: Pick<DesiredFleet, 'system'>, facts: Facts): BridgeLayers {
  const active = activeBridges(facts);
  const preferred = preferredBridges(facts);
  // A service never restores a bridge, so it is left unchanged where macOS does not let us disable it.
  const services = isLeftToKeeper(desired, facts)
    ? []
    : bridgeServices(facts, [...(active ?? []), ...(preferred ?? [])]);
  const presence: Readonly<Record<BridgeLayer, Presence>> = {
    interface: isThere(active),
    preferences: isThere(preferred),
    service: read(facts, networkServicesFact).kind === 'unknown' ? undefined : services.length > 0,
  };
  return {
    present: bridgeLayerNames.filter((layer) => presence[layer] === true),
    unknown: bridgeLayerNames.filter((layer) => presence[layer] === undefined),
    active: active ?? [],
    preferred: preferred ?? [],
    services,
  };
}

export const isBridged = (facts: Facts, interfaceName: string): boolean =>
  (activeBridges(facts) ?? []).some(({ members }) => members.includes(interfaceName));

/** The bridges made by people that keep receptacles from RDMA, each once; active bridges come first. */
export const madeBridges = ({ active, preferred }: BridgeLayers): readonly ReceptacleBridge[] =>
  [...active, ...preferred].filter(
    (one, index, all) => one.maker === 'made' && all.findIndex((other) => other.name === one.name) === index,
  );

/** The bridges of one node in one word; `comes-back` if only the preferences or the service still have one. */
export type BridgeState = 'none' | 'active' | 'comes-back' | 'unknown';

/** Returns `none` only if all three layers are known. */
export function bridgeState(desired: Pick<DesiredFleet, 'system'>, facts: Facts): BridgeState {
  const layers = bridgeLayers(desired, facts);
  const made = madeBridges(layers);
  if (layers.present.includes('interface') || layers.active.some((one) => made.includes(one))) return 'active';
  if (layers.unknown.length > 0) return 'unknown';
  return layers.present.length + made.length > 0 ? 'comes-back' : 'none';
}

interface ReceptacleBridge {
  readonly name: string;
  /** All members, of any kind. */
  readonly members: readonly string[];
  /** The members that are receptacles, or may be. */
  readonly receptacles: readonly string[];
  /**
   * `own`: the Thunderbolt Bridge of macOS, which joins only receptacles. `made`: a bridge made by a person or by
   * Internet Sharing, which may be in use as a network. `undecided`: the kinds of its members are unknown.
   */
  readonly maker: 'own' | 'made' | 'undecided';
  /** IPv4 addresses of the bridge itself. */
  readonly addresses: readonly string[];
}

type Found = Pick<ReceptacleBridge, 'name' | 'members' | 'addresses'>;

const ownMark = 'thunderbolt-bridge';

/**
 * True if a bridge may be macOS's own: by its mark, by its service, or by the usual name bridge0. Bridges from
 * bridge100 on belong to Internet Sharing and virtual machines. The keeper decides in the same way.
 */
function isOwnName(facts: Facts, name: string, hasMark: boolean): boolean {
  const services = readValue(facts, networkServicesFact) ?? [];
  const isOfService = services.some(({ port, device }) => port === 'Thunderbolt Bridge' && device === name);
  return (hasMark || isOfService || name === 'bridge0') && !/\d{3}$/.test(name);
}

/** True if macOS marks a bridge of that name as its own, whatever its members are now. */
export const isMarked = (facts: Facts, name: string): boolean =>
  readValue(facts, bridgePreferencesFact)?.some((one) => one.auto === ownMark && one.name === name) === true;

function classify(facts: Facts, found: Found, hasMark: boolean): readonly ReceptacleBridge[] {
  const kinds = found.members.map((member) => interfaceKind(facts, member));
  const receptacles = found.members.filter((_, index) => kinds[index] !== 'other');
  const bridge = (maker: ReceptacleBridge['maker']): readonly ReceptacleBridge[] => [{ ...found, receptacles, maker }];
  const mayBeOwn = isOwnName(facts, found.name, hasMark) && !kinds.includes('other');
  if (hasMark && mayBeOwn) return bridge('own');
  if (receptacles.length === 0) return [];
  if (kinds.every((kind) => kind === 'thunderbolt')) return bridge(mayBeOwn ? 'own' : 'made');
  return bridge(kinds.includes('thunderbolt') ? 'made' : 'undecided');
}

function activeBridges(facts: Facts): readonly ReceptacleBridge[] | undefined {
  return readValue(facts, interfacesFact)
    ?.filter(({ members }) => members.length > 0)
    .flatMap(({ name, members, ipv4 }) =>
      classify(facts, { name, members, addresses: ipv4.map(({ address }) => address) }, isMarked(facts, name)),
    );
}

function preferredBridges(facts: Facts): readonly ReceptacleBridge[] | undefined {
  return readValue(facts, bridgePreferencesFact)?.flatMap(({ name, interfaces, auto }) =>
    classify(facts, { name, members: interfaces, addresses: [] }, auto === ownMark),
  );
}
