import type { Facts } from '../model/observation.ts';
import { thunderboltInterfaces } from './thunderbolt-interfaces.ts';

/** Where macOS keeps the Thunderbolt Bridge: each survives the removal of the others. */
export type BridgeLayer = 'interface' | 'preferences' | 'service';

/** What is known of the Thunderbolt Bridge of one node. */
export interface BridgeLayers {
  /** The layers that have it. */
  readonly present: readonly BridgeLayer[];
  /** The layers that nobody could look at. */
  readonly unknown: readonly BridgeLayer[];
  /** The interfaces that are bridged right now, by name of their bridge. */
  readonly membersByBridge: ReadonlyMap<string, readonly string[]>;
  /** The Thunderbolt Bridges of the network preferences, by name. */
  readonly preferredBridges: readonly string[];
}

type Judged = boolean | undefined;

/** A bridge is a Thunderbolt one by its members; while nobody knows which those are, every bridge counts. */
function thunderboltMembers(facts: Facts, members: readonly string[]): readonly string[] {
  const receptacles = thunderboltInterfaces(facts);
  const own = new Set(receptacles?.values());
  return receptacles === undefined ? members : members.filter((one) => own.has(one));
}

function membersByBridge(facts: Facts): ReadonlyMap<string, readonly string[]> | undefined {
  const { interfaces } = facts;
  if (interfaces.kind === 'unknown') {
    return undefined;
  }
  const bridges = interfaces.value.map(({ name, members }) => [name, thunderboltMembers(facts, members)] as const);
  return new Map(bridges.filter(([, members]) => members.length > 0));
}

/** Only Thunderbolt Bridges: a bridge that somebody made for other interfaces is none of ours. */
function preferredBridges(facts: Facts): readonly string[] | undefined {
  const preferences = facts['bridge-preferences'];
  return preferences.kind === 'unknown'
    ? undefined
    : preferences.value
        .filter(
          ({ auto, interfaces }) => auto === 'thunderbolt-bridge' || thunderboltMembers(facts, interfaces).length > 0,
        )
        .map(({ name }) => name);
}

function hasService(facts: Facts): Judged {
  const services = facts['network-services'];
  return services.kind === 'unknown'
    ? undefined
    : services.value.some(({ port, isEnabled }) => port === 'Thunderbolt Bridge' && isEnabled);
}

/** Looks at the three layers of the Thunderbolt Bridge: interface, preferences, enabled service. */
export function bridgeLayers(facts: Facts): BridgeLayers {
  const members = membersByBridge(facts);
  const preferred = preferredBridges(facts);
  const layers: readonly (readonly [BridgeLayer, Judged])[] = [
    ['interface', members === undefined ? undefined : members.size > 0],
    ['preferences', preferred === undefined ? undefined : preferred.length > 0],
    ['service', hasService(facts)],
  ];
  return {
    present: layers.flatMap(([layer, judged]) => (judged === true ? [layer] : [])),
    unknown: layers.flatMap(([layer, judged]) => (judged === undefined ? [layer] : [])),
    membersByBridge: members ?? new Map(),
    preferredBridges: preferred ?? [],
  };
}

/** Whether this interface is a member of a bridge right now. */
export const isBridged = (layers: BridgeLayers, interfaceName: string): boolean =>
  [...layers.membersByBridge.values()].some((members) => members.includes(interfaceName));

/** The Thunderbolt Bridge of one node in one word; `comes-back` when only preferences or service still have it. */
export type BridgeState = 'none' | 'active' | 'comes-back' | 'unknown';

/** `none` only when all three layers could be looked at. */
export function bridgeState(facts: Facts): BridgeState {
  const { present, unknown } = bridgeLayers(facts);
  if (present.includes('interface')) {
    return 'active';
  }
  if (unknown.length > 0) {
    return 'unknown';
  }
  return present.length > 0 ? 'comes-back' : 'none';
}
