import { needsRdma } from '../../desired/layouts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { known, seenValue } from '../../model/known.ts';
import type { Patch, Step } from '../../model/step.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { gateStep, transactionStep } from '../build-step.ts';
import { read, readValue } from '../fact.ts';
import { keeperArg } from '../foreign-daemon/adopted-daemon.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { connectionBlockers } from '../network/transaction/resource.ts';
import { rdmaPortsFact } from '../rdma/devices-fact.ts';
import {
  type Blocker,
  type ObservedTarget,
  type Property,
  patchesOf,
  perTarget,
  propertiesOn,
  type Resource,
  type Sight,
  type View,
} from '../resource.ts';
import {
  linkAddressProperties,
  nodeLinkAddresses,
  type WantedAddress,
  wantedAddresses,
} from './link-address-properties.ts';
import { receptacleDevices, serviceOf } from './link-address-seen.ts';

const gidAddress = (receptacle: number): Addressed => addressed({ kind: 'rdma-gid', receptacle });

/** Whether the RDMA device of each cabled receptacle has the GID of its address, where that can be seen. */
function gidSights(fleet: DesiredFleet, { desired: { name: node }, facts }: ObservedTarget): readonly Sight[] {
  const devices = receptacleDevices(facts);
  const ports = read(facts, rdmaPortsFact);
  if (devices.kind === 'unknown' || ports.kind === 'unknown' || !needsRdma(fleet, node)) return [];
  return wantedAddresses(fleet, node).flatMap(({ receptacle, address: ipv4 }) => {
    const port = ports.value.find(({ device }) => device === `rdma_${devices.value.get(receptacle)}`);
    // A port that is not active gets no GID: the cable, or RDMA at the far end, is what is missing there.
    return port?.state === 'active'
      ? [{ node, ...gidAddress(receptacle), observed: known(port.gids.some((gid) => gid.ipv4 === ipv4)) }]
      : [];
  });
}

/** Sights of all targets: a GID follows from the address, and nothing else makes one. */
const linkGidSights = ({ desired, targets }: View): readonly Sight[] =>
  targets.flatMap((target) => gidSights(desired, target));

/** What a gate waits for beside the addresses of these receptacles. */
function expectedGids(fleet: DesiredFleet, target: ObservedTarget, receptacles: readonly number[]): readonly Patch[] {
  return gidSights(fleet, target)
    .filter(({ about }) => about.receptacle !== undefined && receptacles.includes(about.receptacle))
    .map(({ node, address, about }) => ({ node, address, about, value: true }));
}

const receptaclesOf = (made: readonly Property[]): readonly number[] => [
  ...new Set(made.flatMap(({ about }) => about.receptacle ?? [])),
];

const portOf = (receptacle: number): string => `Thunderbolt ${receptacle}`;

/** A name that no service has: that of the hardware port, as macOS would call it, or one after it. */
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
  const name =
    service?.name ??
    newServiceName(
      hardwarePort,
      all.map((one) => one.name),
    );
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
    node: target.desired.name,
    resource: 'link-address',
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
    node: target.desired.name,
    resource: 'link-address',
    name: `link-address/${receptacle}/clear`,
    call: { name: 'clear-link-address', args },
    makes,
    deadlineMs: 60_000,
  });
}

/**
 * One script per receptacle, and one gate for all of them: configd takes its time to put an address on an interface.
 * What is taken away goes first, so that no address is ever on two interfaces of one Mac.
 */
function nodeSteps(fleet: DesiredFleet, target: ObservedTarget, made: readonly Property[]): readonly Step[] {
  const { name: node } = target.desired;
  const devices = seenValue(receptacleDevices(target.facts));
  const wanted = wantedAddresses(fleet, node);
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
  const expect = [...patchesOf(made), ...expectedGids(fleet, target, receptaclesOf(made))];
  const about = { node, resource: 'link-address', name: 'link-address/gate' } as const;
  const gate = gateStep({ ...about, needs: sets.length > 0 ? sets : clears, expect, deadlineMs: 120_000 });
  return [...clears, ...sets, gate];
}

/** The interfaces of the receptacles that would get or lose an address: no other is ever touched. */
function touchedInterfaces({ facts }: ObservedTarget, changed: readonly Property[]): readonly string[] {
  const devices = seenValue(receptacleDevices(facts));
  return receptaclesOf(changed).flatMap((one) => devices?.get(one) ?? []);
}

const blockersOf = (view: View): readonly Blocker[] => [
  ...view.findingBlockers('link-address'),
  ...connectionBlockers(view, {
    kind: 'link-address',
    properties: linkAddressProperties(view),
    touched: touchedInterfaces,
  }),
];

/** A fixed address at each end of each link; what links had before is taken away. @see networksetup(8) */
export const linkAddress: Resource = {
  kind: 'link-address',
  after: ['identity', 'sudo', 'thunderbolt-bridge'],
  // What runs over the cables goes before their addresses.
  onUninstall: ({ nodes }) => ({
    after: ['identity', 'sudo', 'placement', 'keeper'],
    properties: propertiesOn(linkAddress, nodes),
    blockers: (view) =>
      blockersOf(view).filter(({ code, node }) => code === 'network/carries-connection' && nodes.includes(node)),
  }),
  ...perTarget(nodeLinkAddresses, nodeSteps),
  sights: linkGidSights,
  blockers: blockersOf,
};
