import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, NetworkService } from '../../model/facts/fact-values.ts';
import { read, readValue } from '../fact.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { isLeftToKeeper } from '../network/services.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { interfaceKind } from '../network/thunderbolt-interfaces.ts';
import { bridgePreferencesFact } from './fact.ts';

/** Where macOS keeps the Thunderbolt Bridge: each survives the removal of the others. */
export type BridgeLayer = 'interface' | 'preferences' | 'service';

/** What is known of the bridges of one node. */
export interface BridgeLayers {
  /** The layers that have the Thunderbolt Bridge. */
  readonly present: readonly BridgeLayer[];
  /** The layers of which nobody can say whether they have it. */
  readonly unknown: readonly BridgeLayer[];
  /** The bridges that are up, people's own among them. */
  readonly active: readonly ReceptacleBridge[];
  /** The bridges of the network preferences, people's own among them. */
  readonly preferred: readonly ReceptacleBridge[];
  /** The enabled services of the Thunderbolt Bridge. */
  readonly services: readonly NetworkService[];
}

type Judged = boolean | undefined;

function isThere(bridges: readonly ReceptacleBridge[] | undefined): Judged {
  if (bridges?.some(({ maker }) => maker === 'own')) return true;
  const isOpen = bridges === undefined || bridges.some(({ maker }) => maker === 'undecided');
  return isOpen ? undefined : false;
}

/** A service on a bridge that a person made carries that person's network. */
function bridgeServices(facts: Facts, bridges: readonly ReceptacleBridge[]): readonly NetworkService[] {
  const services = readValue(facts, networkServicesFact) ?? [];
  const named = (maker: ReceptacleBridge['maker'], device: string | undefined): boolean =>
    bridges.some((bridge) => bridge.maker === maker && bridge.name === device);
  return services.filter(
    ({ port, device, isEnabled }) =>
      isEnabled && !named('made', device) && (port === 'Thunderbolt Bridge' || named('own', device)),
  );
}

/** Looks at the three layers of the Thunderbolt Bridge: interface, preferences, enabled service. */
export function bridgeLayers(desired: Pick<DesiredFleet, 'system'>, facts: Facts): BridgeLayers {
  const active = activeBridges(facts);
  const preferred = preferredBridges(facts);
  // A service alone brings no bridge back; where nobody may switch it off, it is left alone.
  const services = isLeftToKeeper(desired, facts)
    ? []
    : bridgeServices(facts, [...(active ?? []), ...(preferred ?? [])]);
  const layers: readonly (readonly [BridgeLayer, Judged])[] = [
    ['interface', isThere(active)],
    ['preferences', isThere(preferred)],
    ['service', read(facts, networkServicesFact).kind === 'unknown' ? undefined : services.length > 0],
  ];
  return {
    present: layers.flatMap(([layer, judged]) => (judged === true ? [layer] : [])),
    unknown: layers.flatMap(([layer, judged]) => (judged === undefined ? [layer] : [])),
    active: active ?? [],
    preferred: preferred ?? [],
    services,
  };
}

/** Whether this interface is a member of a bridge right now, whoever made it. */
export const isBridged = (facts: Facts, interfaceName: string): boolean =>
  (activeBridges(facts) ?? []).some(({ members }) => members.includes(interfaceName));

/** The bridges that a person made and that take receptacles from RDMA, each once, those that are up first. */
export const madeBridges = ({ active, preferred }: BridgeLayers): readonly ReceptacleBridge[] =>
  [...active, ...preferred].filter(
    (one, index, all) => one.maker === 'made' && all.findIndex((other) => other.name === one.name) === index,
  );

/** The bridges of one node in one word; `comes-back` when only preferences or service still have one. */
export type BridgeState = 'none' | 'active' | 'comes-back' | 'unknown';

/** `none` only when all three layers could be looked at. */
export function bridgeState(desired: Pick<DesiredFleet, 'system'>, facts: Facts): BridgeState {
  const layers = bridgeLayers(desired, facts);
  const made = madeBridges(layers);
  if (layers.present.includes('interface') || layers.active.some((one) => made.includes(one))) return 'active';
  if (layers.unknown.length > 0) return 'unknown';
  return layers.present.length + made.length > 0 ? 'comes-back' : 'none';
}

/** A bridge that has, or may have, Thunderbolt receptacles among its members. */
interface ReceptacleBridge {
  readonly name: string;
  /** All of them, whatever they are. */
  readonly members: readonly string[];
  /** Those that are receptacles, or may be while nobody can tell. */
  readonly receptacles: readonly string[];
  /**
   * `own` the Thunderbolt Bridge of macOS, which joins nothing but receptacles ·
   * `made` any other, of a person or of Internet Sharing: a network may hang on it ·
   * `undecided` nobody can tell its members apart.
   */
  readonly maker: 'own' | 'made' | 'undecided';
  /** IPv4 addresses that the bridge itself carries. */
  readonly addresses: readonly string[];
}

type Found = Pick<ReceptacleBridge, 'name' | 'members' | 'addresses'>;

/** What macOS marks as its own in the network preferences. */
const ownMark = 'thunderbolt-bridge';

/**
 * Whether a bridge may be macOS's own: by its mark, as the one of its service, or by the name that it always has. From
 * bridge100 on they belong to Internet Sharing and virtual machines. The keeper judges likewise.
 */
function isOwnName(facts: Facts, name: string, hasMark: boolean): boolean {
  const services = readValue(facts, networkServicesFact) ?? [];
  const isOfService = services.some(({ port, device }) => port === 'Thunderbolt Bridge' && device === name);
  return (hasMark || isOfService || name === 'bridge0') && !/\d{3}$/.test(name);
}

/** Whether macOS marks a bridge of that name as its own, whatever has become of its members. */
export const isMarked = (facts: Facts, name: string): boolean =>
  readValue(facts, bridgePreferencesFact)?.some((one) => one.auto === ownMark && one.name === name) === true;

function judge(facts: Facts, found: Found, hasMark: boolean): readonly ReceptacleBridge[] {
  const kinds = found.members.map((member) => interfaceKind(facts, member));
  const receptacles = found.members.filter((_, index) => kinds[index] !== 'other');
  const bridge = (maker: ReceptacleBridge['maker']): readonly ReceptacleBridge[] => [{ ...found, receptacles, maker }];
  const mayBeOwn = isOwnName(facts, found.name, hasMark) && !kinds.includes('other');
  if (hasMark && mayBeOwn) return bridge('own');
  if (receptacles.length === 0) return [];
  if (kinds.every((kind) => kind === 'thunderbolt')) return bridge(mayBeOwn ? 'own' : 'made');
  return bridge(kinds.includes('thunderbolt') ? 'made' : 'undecided');
}

/** The bridges that `ifconfig` shows with members; undefined when the interfaces are unknown. */
function activeBridges(facts: Facts): readonly ReceptacleBridge[] | undefined {
  return readValue(facts, interfacesFact)
    ?.filter(({ members }) => members.length > 0)
    .flatMap(({ name, members, ipv4 }) =>
      judge(facts, { name, members, addresses: ipv4.map(({ address }) => address) }, isMarked(facts, name)),
    );
}

/** The bridges of the network preferences; undefined when those are unknown. */
function preferredBridges(facts: Facts): readonly ReceptacleBridge[] | undefined {
  return readValue(facts, bridgePreferencesFact)?.flatMap(({ name, interfaces, auto }) =>
    judge(facts, { name, members: interfaces, addresses: [] }, auto === ownMark),
  );
}
