import { isInside, linkAddresses, linkText, networkText } from '../../desired/addresses.ts';
import { needsRdma } from '../../desired/layouts.ts';
import type { DesiredFleet, Ipv4Network } from '../../model/desired.ts';
import type { Facts, Ipv4Address } from '../../model/facts/fact-values.ts';
import { type Known, known, mapKnown, seenValue, unknown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { Patch, Step } from '../../model/step.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { bridgeLayers, madeBridges } from '../bridge/reading.ts';
import { gateStep, transactionStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import { read, readValue } from '../fact.ts';
import { adoptedDaemon, keeperArg } from '../foreign-daemon/reading.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { interfaceAt } from '../network/interfaces-reading.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { isLeftToKeeper, serviceOf } from '../network/services-reading.ts';
import { connectionBlockers } from '../network/transaction/resource.ts';
import { rdmaPortsFact } from '../rdma/devices-fact.ts';
import {
  type Blocker,
  type ObservedTarget,
  type Property,
  perTarget,
  propertiesOn,
  type Reading,
  type Resource,
  type View,
} from '../resource.ts';
import { receptacleDevices, type StoredAddress, storedAddress } from './reading.ts';

interface WantedAddress extends Ipv4Address {
  readonly receptacle: number;
  /** `studio-1:2 <-> studio-2:2`. */
  readonly link: string;
}

/** A node's fixed addresses, sorted by receptacle. Links without an allocated network are left out. */
export function wantedAddresses({ thunderbolt }: DesiredFleet, node: NodeName): readonly WantedAddress[] {
  return linkAddresses(thunderbolt)
    .filter(({ end }) => end.node === node)
    .map(({ end: { receptacle }, link, ...address }) => ({ receptacle, ...address, link: linkText(link.ends) }))
    .toSorted((a, b) => a.receptacle - b.receptacle);
}

/** The networks of our addresses: current links, former links, and the pool. */
function ownNetworks({ thunderbolt: { networks, formerNetworks, pool } }: DesiredFleet): readonly Ipv4Network[] {
  return [...Object.values(networks), ...formerNetworks, ...(pool === undefined ? [] : [pool])];
}

/** Returns a test for addresses that apply gives, or once gave, to a link. */
export function isOwnAddress(fleet: DesiredFleet): (address: Ipv4Address) => boolean {
  const own = ownNetworks(fleet);
  return (address) => own.some((network) => isInside(address, network));
}

const at = (receptacle: number, part: 'live' | 'kept'): Addressed =>
  addressed({ kind: 'link-address', receptacle, part });

/** True if a device is in a bridge that apply does not remove. Such a device cannot have an address of its own. */
export function isInStayingBridge(fleet: DesiredFleet, facts: Facts, device: string): boolean {
  const layers = bridgeLayers(fleet, facts);
  const staying = fleet.thunderbolt.bridge === 'keep' ? [...layers.active, ...layers.preferred] : madeBridges(layers);
  return staying.some(({ members }) => members.includes(device));
}

const storedText = (stored: StoredAddress): string | null =>
  stored.kind === 'manual' ? networkText(stored.address) : stored.kind === 'none' ? null : stored.kind;

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
  const text = networkText(wanted);
  if (devices.kind === 'unknown') {
    return [
      property({ ...about, ...at(receptacle, 'live') }, text, devices),
      property({ ...about, ...at(receptacle, 'kept') }, text, devices),
    ];
  }
  const device = devices.value.get(receptacle);
  // The cable rules report a missing receptacle; the bridge rules report a receptacle in a remaining bridge.
  if (device === undefined || isInStayingBridge(fleet, facts, device)) return [];
  const live = mapKnown(liveAddresses(facts, receptacle), (held) => {
    const texts = held.map(networkText);
    return texts.includes(text) ? text : (texts[0] ?? null);
  });
  // Without a cable, macOS removes the address from the interface. With the cable, the service restores it.
  const isIdle = interfaceAt(facts, receptacle)?.status === 'inactive';
  return [
    ...(isIdle ? [] : [property({ ...about, ...at(receptacle, 'live') }, text, live)]),
    // Where macOS does not let us change the service, the keeper sets the address.
    property(
      { ...about, ...at(receptacle, 'kept') },
      text,
      isLeftToKeeper(fleet, facts) ? known(text) : mapKnown(storedAddress(facts, device), storedText),
    ),
  ];
}

/** Links without a network yet, because the networks in use at one of their ends are unknown. */
function waitingProperties({ thunderbolt }: DesiredFleet, node: NodeName): readonly Property[] {
  return thunderbolt.links.flatMap(({ index, ends }) => {
    const unseen = thunderbolt.waiting?.[index];
    if (unseen === undefined) return [];
    const why = `the networks in use on ${unseen.join(' and ')} are unknown`;
    return ends
      .filter((end) => end.node === node)
      .map(({ receptacle }) => {
        const about = { node, ...at(receptacle, 'live'), reason: `thunderbolt.links: ${linkText(ends)}` };
        return { ...property(about, null, unknown('not-asked', `The link gets no network: ${why}.`)), why };
      });
  });
}

/** A receptacle without a declared link must not have an address of ours. Other addresses are left unchanged. */
function freedProperties(
  fleet: DesiredFleet,
  { desired: { name: node }, facts }: ObservedTarget,
  receptacle: number,
): readonly Property[] {
  const ours = (all: readonly Ipv4Address[]): string | null =>
    all.filter(isOwnAddress(fleet)).map(networkText)[0] ?? null;
  const services = readValue(facts, networkServicesFact);
  const device = seenValue(receptacleDevices(facts))?.get(receptacle);
  if (ownNetworks(fleet).length === 0 || device === undefined) return [];
  const isWithoutService = services !== undefined && serviceOf(services, device) === undefined;
  const stored = mapKnown(storedAddress(facts, device), (one) => (one.kind === 'manual' ? ours([one.address]) : null));
  const about = { node, reason: 'no link is declared at this receptacle' };
  const live = property(
    { ...about, ...at(receptacle, 'live') },
    null,
    mapKnown(liveAddresses(facts, receptacle), ours),
  );
  // On a Mac that refused a new service, only the interface can have an address of ours.
  return isWithoutService ? [live] : [live, property({ ...about, ...at(receptacle, 'kept') }, null, stored)];
}

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
 * `link-address/2/live` and `link-address/2/kept` of one node: the address that the interface has now, and the one that
 * it gets at every boot. Unknown addresses are reported for the node's links, but not again for other receptacles.
 */
function nodeLinkAddresses(fleet: DesiredFleet, target: ObservedTarget): readonly Property[] {
  if (adoptedDaemon(fleet, target.facts) !== undefined) return [];
  const wanted = wantedAddresses(fleet, target.desired.name).flatMap((one) => wantedProperties(fleet, target, one));
  const freed = freeReceptacles(fleet, target).flatMap((receptacle) => freedProperties(fleet, target, receptacle));
  const waiting = waitingProperties(fleet, target.desired.name);
  const isUnknown = wanted.some(({ observed }) => observed.kind === 'unknown');
  return [...wanted, ...waiting, ...freed.filter(({ observed }) => observed.kind === 'known' || !isUnknown)];
}

export const linkAddressProperties = ({ desired, targets }: View): readonly Property[] =>
  targets.flatMap((target) => nodeLinkAddresses(desired, target));

/** Shows whether the RDMA device of each cabled receptacle has the GID of its address, if both are observed. */
function gidReadings(fleet: DesiredFleet, { desired: { name: node }, facts }: ObservedTarget): readonly Reading[] {
  const devices = receptacleDevices(facts);
  const ports = read(facts, rdmaPortsFact);
  if (devices.kind === 'unknown' || ports.kind === 'unknown' || !needsRdma(fleet, node)) return [];
  return wantedAddresses(fleet, node).flatMap(({ receptacle, address: ipv4 }) => {
    const port = ports.value.find(({ device }) => device === `rdma_${devices.value.get(receptacle)}`);
    // An inactive port gets no GID: either the cable or the RDMA at the far end is missing.
    return port?.state === 'active'
      ? [
          {
            node,
            ...addressed({ kind: 'rdma-gid', receptacle }),
            observed: known(port.gids.some((gid) => gid.ipv4 === ipv4)),
          },
        ]
      : [];
  });
}

function expectedGids(fleet: DesiredFleet, target: ObservedTarget, receptacles: readonly number[]): readonly Patch[] {
  return gidReadings(fleet, target)
    .filter(({ about }) => about.receptacle !== undefined && receptacles.includes(about.receptacle))
    .map(({ node, address, about }) => ({ node, address, about, value: true }));
}

const receptaclesOf = (made: readonly Property[]): readonly number[] => [
  ...new Set(made.flatMap(({ about }) => about.receptacle ?? [])),
];

const portOf = (receptacle: number): string => `Thunderbolt ${receptacle}`;

/** An unused service name: the name of the hardware port, as macOS would choose, or the same name with a number. */
function newServiceName(port: string, taken: readonly string[]): string {
  const names = [port, ...taken.map((_, index) => `${port} ${index + 2}`)];
  return names.find((name) => !taken.includes(name)) ?? port;
}

interface Place {
  readonly target: ObservedTarget;
  readonly receptacle: number;
  readonly device: string;
  readonly makes: readonly Property[];
}

function setStep(fleet: DesiredFleet, place: Place, wanted: WantedAddress, needs: readonly Step[]): Step {
  const { target, receptacle, device, makes } = place;
  const all = readValue(target.facts, networkServicesFact) ?? [];
  const service = serviceOf(all, device);
  const hardwarePort = portOf(receptacle);
  const taken = all.map((one) => one.name);
  const name = service?.name ?? newServiceName(hardwarePort, taken);
  const { address, prefixLength } = wanted;
  const create = service === undefined;
  const args = {
    service: name,
    hardwarePort,
    device,
    address,
    prefixLength,
    create,
    ...keeperArg(fleet, target.facts),
  };
  return transactionStep({
    name: `link-address/${receptacle}/set`,
    call: { name: 'set-link-address', args },
    makes,
    needs,
    deadlineMs: 60_000,
  });
}

function clearStep({ target, receptacle, device, makes }: Place): Step {
  const services = readValue(target.facts, networkServicesFact);
  const service = services && serviceOf(services, device);
  const held = makes.flatMap(({ observed }) =>
    observed.kind === 'known' && typeof observed.value === 'string' ? [observed.value] : [],
  );
  const addresses = [...new Set(held.map((text) => text.slice(0, text.indexOf('/'))))];
  const args = {
    ...(service !== undefined && { service: service.name }),
    hardwarePort: portOf(receptacle),
    device,
    addresses,
  };
  return transactionStep({
    name: `link-address/${receptacle}/clear`,
    call: { name: 'clear-link-address', args },
    makes,
    deadlineMs: 60_000,
  });
}

/**
 * One script per receptacle, and one gate for all of them, because configd needs time to put an address on an interface.
 * Removals run first, so that no address is ever on two interfaces of one Mac.
 */
function nodeSteps(fleet: DesiredFleet, target: ObservedTarget, made: readonly Property[]): readonly Step[] {
  const devices = seenValue(receptacleDevices(target.facts));
  const wanted = wantedAddresses(fleet, target.desired.name);
  const wantedAt = (at: number): WantedAddress | undefined => wanted.find((one) => one.receptacle === at);
  const places = receptaclesOf(made).flatMap((receptacle): readonly Place[] => {
    const device = devices?.get(receptacle);
    const makes = made.filter(({ about }) => about.receptacle === receptacle);
    return device === undefined ? [] : [{ target, receptacle, device, makes }];
  });
  const clears = places.filter((place) => wantedAt(place.receptacle) === undefined).map(clearStep);
  const sets = places.flatMap((place) => {
    const own = wantedAt(place.receptacle);
    return own === undefined ? [] : [setStep(fleet, place, own, clears)];
  });
  const gate = gateStep({
    name: 'link-address/gate',
    needs: sets.length > 0 ? sets : clears,
    awaits: made,
    also: expectedGids(fleet, target, receptaclesOf(made)),
    deadlineMs: 120_000,
  });
  return [...clears, ...sets, gate];
}

/** The interfaces of the receptacles that get or lose an address. No other interface is changed. */
function touchedInterfaces(
  _: DesiredFleet,
  { facts }: ObservedTarget,
  changed: readonly Property[],
): readonly string[] {
  const devices = seenValue(receptacleDevices(facts));
  return receptaclesOf(changed).flatMap((one) => devices?.get(one) ?? []);
}

const cutOffs = (view: View): readonly Blocker[] =>
  connectionBlockers(view, { kind: 'link-address', propertiesOf: nodeLinkAddresses, touched: touchedInterfaces });

/** A fixed address at each end of each link; former addresses are removed. @see networksetup(8) */
export const linkAddress: Resource = {
  kind: 'link-address',
  after: ['identity', 'sudo', 'thunderbolt-bridge'],
  // Everything that runs over the cables is removed before their addresses.
  onUninstall: ({ nodes }) => ({
    after: ['identity', 'sudo', 'placement', 'keeper'],
    properties: propertiesOn(linkAddress, nodes),
    blockers: (view) => cutOffs(view).filter(({ node }) => nodes.includes(node)),
  }),
  ...perTarget(nodeLinkAddresses, nodeSteps),
  // A GID follows from the address; no step can set it.
  readings: ({ desired, targets }) => targets.flatMap((target) => gidReadings(desired, target)),
  blockers: (view) => [...view.findingBlockers('link-address'), ...cutOffs(view)],
};

/** Every address that the interface of a receptacle has now; none while it is down. */
function liveAddresses(facts: Facts, receptacle: number): Known<readonly Ipv4Address[]> {
  // Unobserved services cannot be set, so knowing the address does not help.
  const unseen = [read(facts, interfacesFact), read(facts, networkServicesFact)].find(
    (fact) => fact.kind === 'unknown',
  );
  if (unseen?.kind === 'unknown') return unseen;
  const own = interfaceAt(facts, receptacle);
  return known(own?.isUp === true ? own.ipv4 : []);
}
