import type { Facts } from '../../model/facts/fact-values.ts';
import { read } from '../fact.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { networkServicesFact } from '../network/network-services-fact.ts';
import { interfaceKind } from '../network/thunderbolt-interfaces.ts';
import { bridgePreferencesFact } from './fact.ts';

/** A bridge that has, or may have, Thunderbolt receptacles among its members. */
export interface ReceptacleBridge {
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

function markedNames(facts: Facts): readonly string[] {
  const preferences = read(facts, bridgePreferencesFact);
  return preferences.kind === 'unknown'
    ? []
    : preferences.value.filter(({ auto }) => auto === ownMark).map(({ name }) => name);
}

/**
 * Whether a bridge may be macOS's own: by its mark, as the one of its service, or by the name that it always has. From
 * bridge100 on they belong to Internet Sharing and virtual machines. The keeper judges likewise.
 */
function isOwnName(facts: Facts, name: string, hasMark: boolean): boolean {
  const services = read(facts, networkServicesFact);
  const isOfService =
    services.kind === 'known' &&
    services.value.some(({ port, device }) => port === 'Thunderbolt Bridge' && device === name);
  return (hasMark || isOfService || name === 'bridge0') && !/\d{3}$/.test(name);
}

/** Whether macOS marks a bridge of that name as its own, whatever has become of its members. */
export const isMarked = (facts: Facts, name: string): boolean => markedNames(facts).includes(name);

function judge(facts: Facts, found: Found, hasMark: boolean): readonly ReceptacleBridge[] {
  const kinds = found.members.map((member) => interfaceKind(facts, member));
  const receptacles = found.members.filter((_, index) => kinds[index] !== 'other');
  const bridge = (maker: ReceptacleBridge['maker']): readonly ReceptacleBridge[] => [{ ...found, receptacles, maker }];
  const mayBeOwn = isOwnName(facts, found.name, hasMark) && !kinds.includes('other');
  if (hasMark && mayBeOwn) {
    return bridge('own');
  }
  if (receptacles.length === 0) {
    return [];
  }
  if (kinds.every((kind) => kind === 'thunderbolt')) {
    return bridge(mayBeOwn ? 'own' : 'made');
  }
  return bridge(kinds.includes('thunderbolt') ? 'made' : 'undecided');
}

/** The bridges that `ifconfig` shows with members; undefined when the interfaces are unknown. */
export function activeBridges(facts: Facts): readonly ReceptacleBridge[] | undefined {
  const interfaces = read(facts, interfacesFact);
  if (interfaces.kind === 'unknown') {
    return undefined;
  }
  return interfaces.value
    .filter(({ members }) => members.length > 0)
    .flatMap(({ name, members, ipv4 }) =>
      judge(facts, { name, members, addresses: ipv4.map(({ address }) => address) }, isMarked(facts, name)),
    );
}

/** The bridges of the network preferences; undefined when those are unknown. */
export function preferredBridges(facts: Facts): readonly ReceptacleBridge[] | undefined {
  const preferences = read(facts, bridgePreferencesFact);
  return preferences.kind === 'unknown'
    ? undefined
    : preferences.value.flatMap(({ name, interfaces, auto }) =>
        judge(facts, { name, members: interfaces, addresses: [] }, auto === ownMark),
      );
}
