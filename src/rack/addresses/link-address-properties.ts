import { endAddresses, isInside, linkText } from '../../desired/addresses.ts';
import type { DesiredFleet, Ipv4Network } from '../../model/desired.ts';
import type { Facts, Ipv4Address } from '../../model/facts/fact-values.ts';
import { type Known, known, mapKnown, seenValue, unknown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { bridgeLayers, madeBridges } from '../bridge/bridges.ts';
import { readValue } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { isLeftToKeeper } from '../network/services.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { interfaceAt } from '../network/thunderbolt-interfaces.ts';
import type { ObservedTarget, Property, View } from '../resource.ts';
import { compared } from '../seen-fact.ts';
import {
  addressText,
  type KeptAddress,
  keptAddress,
  liveAddresses,
  receptacleDevices,
  serviceOf,
} from './link-address-seen.ts';

/** The address that the file gives to one receptacle. */
export interface WantedAddress extends Ipv4Address {
  readonly receptacle: number;
  /** `studio-1:2 <-> studio-2:2`. */
  readonly link: string;
}

/** The fixed addresses of a node, by receptacle; only of links whose network is settled. */
export function wantedAddresses({ thunderbolt }: DesiredFleet, node: NodeName): readonly WantedAddress[] {
  const found = thunderbolt.links.flatMap(({ index, ends }) => {
    const network = thunderbolt.networks[index];
    const all = network === undefined ? [] : endAddresses(ends, network);
    return all
      .filter(({ end }) => end.node === node)
      .map(({ end: { receptacle }, address }) => ({
        receptacle,
        address,
        prefixLength: network?.prefixLength ?? 0,
        link: linkText(ends),
      }));
  });
  return found.toSorted((a, b) => a.receptacle - b.receptacle);
}

/** Where addresses of ours lie: links of today and of before, and the pool that is kept for them. */
function ownNetworks({ thunderbolt: { networks, formerNetworks, pool } }: DesiredFleet): readonly Ipv4Network[] {
  return [...Object.values(networks), ...formerNetworks, ...(pool === undefined ? [] : [pool])];
}

/** Whether an address is one of those that apply gives to links, now or before. */
export function isOwnAddress(fleet: DesiredFleet): (address: Ipv4Address) => boolean {
  const own = ownNetworks(fleet);
  return (address) => own.some((network) => isInside(address, network));
}

const at = (receptacle: number, part: 'live' | 'kept'): Addressed =>
  addressed({ kind: 'link-address', receptacle, part });

/** A receptacle inside of a bridge that stays can hold no address of its own. */
export function isInStayingBridge(fleet: DesiredFleet, facts: Facts, device: string): boolean {
  const layers = bridgeLayers(fleet, facts);
  const staying = fleet.thunderbolt.bridge === 'keep' ? [...layers.active, ...layers.preferred] : madeBridges(layers);
  return staying.some(({ members }) => members.includes(device));
}

function keptText(kept: KeptAddress): string | null {
  switch (kept.kind) {
    case 'none':
      return null;
    case 'manual':
      return addressText(kept.address);
    case 'dhcp':
    case 'off':
    case 'other':
      return kept.kind;
  }
}

/** The parts of a property that follow from what is wanted and what is seen. */
function property(
  about: Pick<Property, 'node' | 'address' | 'about' | 'reason'>,
  desired: string | null,
  observed: Known<string | null>,
): Property {
  return { ...about, ...compared(desired, observed, (text) => text ?? 'none') };
}

function wantedProperties(fleet: DesiredFleet, target: ObservedTarget, wanted: WantedAddress): readonly Property[] {
  const { desired: own, facts } = target;
  const { receptacle } = wanted;
  const devices = receptacleDevices(facts);
  const about = { node: own.name, reason: `thunderbolt.links: ${wanted.link}` };
  const text = addressText(wanted);
  if (devices.kind === 'unknown') {
    return [
      property({ ...about, ...at(receptacle, 'live') }, text, devices),
      property({ ...about, ...at(receptacle, 'kept') }, text, devices),
    ];
  }
  const device = devices.value.get(receptacle);
  // A Mac without this receptacle is told with the cables; one in a bridge that stays, with the bridge.
  if (device === undefined || isInStayingBridge(fleet, facts, device)) return [];
  const live = mapKnown(liveAddresses(facts, receptacle), (held) => {
    const texts = held.map(addressText);
    return texts.includes(text) ? text : (texts[0] ?? null);
  });
  // Without a cable macOS takes the address off the interface; the service gives it back with the cable.
  const isIdle = interfaceAt(facts, receptacle)?.status === 'inactive';
  return [
    ...(isIdle ? [] : [property({ ...about, ...at(receptacle, 'live') }, text, live)]),
    // Where nobody may set the service, the keeper is what keeps the address.
    property(
      { ...about, ...at(receptacle, 'kept') },
      text,
      isLeftToKeeper(fleet, facts) ? known(text) : mapKnown(keptAddress(facts, device), keptText),
    ),
  ];
}

/** Links that have no network yet, since nobody could see what is in use at an end of theirs. */
function waitingProperties({ thunderbolt }: DesiredFleet, node: NodeName): readonly Property[] {
  return thunderbolt.links.flatMap(({ index, ends }) => {
    const unseen = thunderbolt.waiting?.[index];
    if (unseen === undefined) return [];
    const why = `no network before those of ${unseen.join(' and ')} are seen`;
    return ends
      .filter((end) => end.node === node)
      .map(({ receptacle }) => {
        const about = { node, ...at(receptacle, 'live'), reason: `thunderbolt.links: ${linkText(ends)}` };
        return { ...property(about, null, unknown('not-asked', `There is ${why}.`)), why };
      });
  });
}

/** Where no link is declared, nothing of ours may be left; whatever else is there is none of our business. */
function freedProperties(
  fleet: DesiredFleet,
  { desired: { name: node }, facts }: ObservedTarget,
  receptacle: number,
): readonly Property[] {
  const own = ownNetworks(fleet);
  const isOurs = (one: Ipv4Address): boolean => own.some((network) => isInside(one, network));
  const ours = (all: readonly Ipv4Address[]): string | null => all.filter(isOurs).map(addressText)[0] ?? null;
  const services = readValue(facts, networkServicesFact);
  const device = seenValue(receptacleDevices(facts))?.get(receptacle);
  if (own.length === 0 || device === undefined) return [];
  const isWithoutService = services !== undefined && serviceOf(services, device) === undefined;
  const kept = mapKnown(keptAddress(facts, device), (one) => (one.kind === 'manual' ? ours([one.address]) : null));
  const about = { node, reason: 'no link is declared at this receptacle' };
  const live = property(
    { ...about, ...at(receptacle, 'live') },
    null,
    mapKnown(liveAddresses(facts, receptacle), ours),
  );
  // A Mac that let nobody make a service may hold an address of ours on the interface alone.
  return isWithoutService ? [live] : [live, property({ ...about, ...at(receptacle, 'kept') }, null, kept)];
}

/** Receptacles of a node that no link names. */
function freeReceptacles(
  { thunderbolt }: DesiredFleet,
  { desired: { name }, facts }: ObservedTarget,
): readonly number[] {
  const devices = seenValue(receptacleDevices(facts));
  const isLinked = (receptacle: number): boolean =>
    thunderbolt.links.some(({ ends }) => ends.some((end) => end.node === name && end.receptacle === receptacle));
  return [...(devices?.keys() ?? [])].filter((receptacle) => !isLinked(receptacle)).toSorted((a, b) => a - b);
}

/**
 * `link-address/2/live` and `link-address/2/kept` of one node: what the interface holds, and what it gets at every boot.
 * What is unknown of a node is told once, at its links, and not again at receptacles without a link.
 */
export function nodeLinkAddresses(fleet: DesiredFleet, target: ObservedTarget): readonly Property[] {
  if (adoptedDaemon(fleet, target.facts) !== undefined) return [];
  const wanted = wantedAddresses(fleet, target.desired.name).flatMap((one) => wantedProperties(fleet, target, one));
  const freed = freeReceptacles(fleet, target).flatMap((receptacle) => freedProperties(fleet, target, receptacle));
  const waiting = waitingProperties(fleet, target.desired.name);
  const isTold = wanted.some(({ observed }) => observed.kind === 'unknown');
  return [...wanted, ...waiting, ...freed.filter(({ observed }) => observed.kind === 'known' || !isTold)];
}

/** The properties of all targets. */
export const linkAddressProperties = ({ desired, targets }: View): readonly Property[] =>
  targets.flatMap((target) => nodeLinkAddresses(desired, target));
