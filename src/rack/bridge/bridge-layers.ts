import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, NetworkService } from '../../model/facts/fact-values.ts';
import { read } from '../fact.ts';
import { isLeftToKeeper } from '../network/left-to-keeper.ts';
import { networkServicesFact } from '../network/network-services-fact.ts';
import { activeBridges, preferredBridges, type ReceptacleBridge } from './bridges.ts';

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
  if (bridges?.some(({ maker }) => maker === 'own')) {
    return true;
  }
  const isOpen = bridges === undefined || bridges.some(({ maker }) => maker === 'undecided');
  return isOpen ? undefined : false;
}

/** A service on a bridge that a person made carries that person's network. */
function bridgeServices(facts: Facts, bridges: readonly ReceptacleBridge[]): readonly NetworkService[] {
  const services = read(facts, networkServicesFact);
  const named = (maker: ReceptacleBridge['maker'], device: string | undefined): boolean =>
    bridges.some((bridge) => bridge.maker === maker && bridge.name === device);
  return services.kind === 'unknown'
    ? []
    : services.value.filter(
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
  if (layers.present.includes('interface') || layers.active.some((one) => made.includes(one))) {
    return 'active';
  }
  if (layers.unknown.length > 0) {
    return 'unknown';
  }
  return layers.present.length + made.length > 0 ? 'comes-back' : 'none';
}
