/** The rack of four Mac Studios that tests share, as values: declared in a file, observed, and simulated. */

import { endAddresses } from '../../src/desired/addresses.ts';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import type { FactName, FactValues } from '../../src/engine/observe/facts.ts';
import {
  gatewayAccount,
  type MacAccounts,
  ownAccounts,
  ranksAccount,
  transfersAccount,
} from '../../src/model/account.ts';
import type { DesiredFleet, DesiredNode, Ipv4Network } from '../../src/model/desired.ts';
import type {
  Facts,
  NetworkInterface,
  NodeObservation,
  ThunderboltPeer,
  ThunderboltReceptacle,
} from '../../src/model/facts/fact-values.ts';
import { known, type UnknownReason, unknown } from '../../src/model/known.ts';
import { type Link, type LinkEnd, nodeName } from '../../src/model/node.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { type ActiveFault, faults } from '../../src/sim/faults/faults.ts';
import type { SimulatedFleet } from '../../src/sim/model/fleet.ts';
import { nodeFiles } from '../../src/sim/render-node.ts';
import { simulateFleet } from '../../src/sim/simulate-fleet.ts';

/** `studio-1:2` as a value. */
export function end(text: string): LinkEnd {
  const [node = '', receptacle = ''] = text.split(':');
  return { node: nodeName(node), receptacle: Number(receptacle) };
}

/** `studio-1:2 <-> studio-2:2` as the ends of a link or cable. */
function endsOf(text: string): readonly [LinkEnd, LinkEnd] {
  const [a = '', b = ''] = text.split(' <-> ');
  return [end(a), end(b)];
}

/** Links in the order of a file. */
export const links = (texts: readonly string[]): readonly Link[] =>
  texts.map((text, index) => ({ index, ends: endsOf(text) }));

/** The full mesh of four that the example file declares. */
export const meshOfFour: readonly string[] = [
  'studio-1:2 <-> studio-2:2',
  'studio-1:3 <-> studio-3:2',
  'studio-1:4 <-> studio-4:2',
  'studio-2:3 <-> studio-3:3',
  'studio-2:4 <-> studio-4:3',
  'studio-3:4 <-> studio-4:4',
];

/** The Macs of the example file. */
const studios: readonly string[] = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

/** A file with these studios, the mesh of four, and the settings that a careful person would choose. */
export function desiredFleet(
  changes: Partial<DesiredFleet> & { readonly names?: readonly string[] } = {},
): DesiredFleet {
  const { names = studios, ...rest } = changes;
  return {
    name: 'studio-rack',
    nodes: names.map((name) => desiredNode(name)),
    macos: { version: '26.5', accept: '>=26.4 <26.6' },
    power: { sleepMinutes: 0, restartAfterPowerLoss: true },
    system: {
      wiredLimit: { kind: 'auto' },
      fileVault: 'any',
      accounts: { ranks: ranksAccount, gateway: gatewayAccount, transfers: transfersAccount },
    },
    thunderbolt: {
      bridge: 'remove',
      rdma: 'required',
      pool: { address: '10.77.0.0', prefixLength: 24 },
      avoid: [],
      links: links(meshOfFour),
      networks: {},
      formerNetworks: [],
    },
    runtimes: [],
    models: [],
    placements: [],
    ...rest,
  };
}

/** One node in a file. */
export function desiredNode(name: string, hardware: DesiredNode['hardware'] = {}): DesiredNode {
  return { name: nodeName(name), host: `${name}.lan`, hardware, labels: {} };
}

/** `10.77.0.4/30` for the second link, and so on. */
const networkOf = (index: number): Ipv4Network => ({ address: `10.77.0.${index * 4}`, prefixLength: 30 });

const meshLinks = links(meshOfFour);

/** The file with each link's /30 network from the lock. */
export function settledFleet(changes: Partial<DesiredFleet> = {}): DesiredFleet {
  const networks = Object.fromEntries(meshLinks.map(({ index }) => [index, networkOf(index)]));
  return desiredFleet({ thunderbolt: { ...desiredFleet().thunderbolt, networks }, ...changes });
}

/** The four Macs of a simulated fleet: two memory sizes, and without meshwright's accounts. */
export const desiredRack: DesiredFleet = desiredFleet({
  nodes: studios.map((name, at) => desiredNode(name, { model: 'Mac15,14', memoryBytes: 2 ** (at < 2 ? 39 : 38) })),
  macos: { version: '26.5' },
  system: { ...desiredFleet().system, accounts: {} },
});

/** The domain UUID of a receptacle: any text that is the same at both ends of a cable. */
const domainOf = (name: string, receptacle: number): string => `DOMAIN-${name}-${receptacle}`.toUpperCase();

/** A free receptacle of Thunderbolt 5. */
export const freeReceptacle = (name: string, receptacle: number): ThunderboltReceptacle => ({
  bus: `thunderboltusb4_bus_${receptacle - 1}`,
  domainUuid: domainOf(name, receptacle),
  receptacle,
  state: 'empty',
  maxBitsPerSecond: 120e9,
  peers: [],
  devices: [],
});

/** The Mac at the far end of a cable. */
export const peer = (far: LinkEnd, changes: Partial<ThunderboltPeer> = {}): ThunderboltPeer => ({
  domainUuid: domainOf(far.node, far.receptacle),
  model: 'Mac15,14',
  name: 'Mac Studio',
  advertisesRdma: true,
  hubsBetween: 0,
  ...changes,
});

/** A receptacle with one cable straight to another Mac. */
export function cabledReceptacle(name: string, receptacle: number, far: LinkEnd): ThunderboltReceptacle {
  const { maxBitsPerSecond: _, ...free } = freeReceptacle(name, receptacle);
  return { ...free, state: 'connected', linkBitsPerSecond: 80e9, peers: [peer(far)] };
}

/** All receptacles of a node that has `count` receptacles; `cables` are those of the whole rack. */
export function receptacles(name: string, count: number, cables: readonly string[]): readonly ThunderboltReceptacle[] {
  const ends = cables.map(endsOf);
  return Array.from({ length: count }, (_, index) => {
    const receptacle = index + 1;
    const isHere = (one: LinkEnd): boolean => one.node === name && one.receptacle === receptacle;
    const far = ends.flatMap(([a, b]) => (isHere(a) ? [b] : isHere(b) ? [a] : []))[0];
    return far === undefined ? freeReceptacle(name, receptacle) : cabledReceptacle(name, receptacle, far);
  });
}

const interfaceOf = (receptacle: number): string => `en${receptacle + 1}`;

function networkFacts(name: string, own: readonly ThunderboltReceptacle[]): Partial<FactValues> {
  const number = Number(name.replaceAll(/\D/g, '') || '9');
  const linked = own.filter((one) => one.state === 'connected');
  const addressOf = (receptacle: number): string => `10.77.${number}.${receptacle * 4 + 1}`;
  return {
    'hardware-ports': [
      { port: 'Ethernet', device: 'en0' },
      { port: 'Wi-Fi', device: 'en1' },
      ...own.map(({ receptacle }) => ({ port: `Thunderbolt ${receptacle}`, device: interfaceOf(receptacle) })),
    ],
    interfaces: [
      {
        name: 'lo0',
        isUp: true,
        mtuBytes: 16384,
        ipv4: [{ address: '127.0.0.1', prefixLength: 8 }],
        ipv6: [],
        members: [],
      },
      {
        name: 'en0',
        isUp: true,
        mtuBytes: 1500,
        ipv4: [{ address: `192.168.1.${10 + number}`, prefixLength: 24 }],
        ipv6: [],
        status: 'active',
        members: [],
      },
      ...own.map(({ receptacle, state }) => ({
        name: interfaceOf(receptacle),
        isUp: true,
        mtuBytes: 1500,
        ipv4: state === 'connected' ? [{ address: addressOf(receptacle), prefixLength: 30 }] : [],
        ipv6: [],
        status: state === 'connected' ? ('active' as const) : ('inactive' as const),
        members: [],
      })),
    ],
    'network-services': [{ name: 'Ethernet', port: 'Ethernet', device: 'en0', isEnabled: true }],
    'rdma-devices': own.map(({ receptacle }) => ({
      name: `rdma_${interfaceOf(receptacle)}`,
      guid: '0000000000000000',
    })),
    'rdma-ports': own.map(({ receptacle, state }) => ({
      device: `rdma_${interfaceOf(receptacle)}`,
      state: state === 'connected' ? ('active' as const) : ('down' as const),
      gids: [
        { index: 0, gid: 'fe80::1' },
        ...(linked.some((one) => one.receptacle === receptacle)
          ? [{ index: 1, gid: `::ffff:${addressOf(receptacle)}`, ipv4: addressOf(receptacle) }]
          : []),
      ],
    })),
  };
}

/** All of meshwright's accounts, as apply creates them. */
const ownAccountsMade: MacAccounts = {
  accounts: ownAccounts.map((name, at) => ({
    name,
    uid: 450 + at,
    gid: 450 + at,
    generatedUid: `GENERATED-${name}`,
    home: '/var/empty',
    shell: '/usr/bin/false',
    hasPassword: false,
    groups: [name, 'everyone', 'localaccounts'],
  })),
  made: ownAccounts.map((name, at) => ({ name, uid: 450 + at, generatedUid: `GENERATED-${name}` })),
  begun: [],
  checked: [],
};

// If a test sets a different number of starts, the Mac's kernel is unreadable unless the test also sets its objects.
const noStarts: FactValues['rdma-starts'] = { startedIn: '', starts: 0, last: [] };
const noObjects: FactValues['rdma-objects'] = { domains: 0, queuePairs: 0 };

/** All facts about a healthy Mac Studio (M3 Ultra, 512 GB) with these receptacles. */
export function healthyFacts(name: string, own: readonly ThunderboltReceptacle[]): FactValues {
  return {
    'macos-version': { version: '26.5', build: '25F71' },
    hardware: { model: 'Mac15,14', chip: 'Apple M3 Ultra', memoryBytes: 2 ** 39 },
    identity: { serial: `SER${name.toUpperCase().replaceAll('-', '')}`, hardwareUuid: `UUID-${name}` },
    thunderbolt: own,
    'receptacle-places': [],
    'hardware-ports': [],
    interfaces: [],
    'dhcp-leases': [],
    accounts: ownAccountsMade,
    routes: [],
    'bridge-preferences': [],
    'network-services': [],
    'rdma-state': 'enabled',
    'rdma-switch': 'on',
    'rdma-devices': [],
    'rdma-ports': [],
    'rdma-objects': noObjects,
    'rdma-holders': { devices: [], processes: [] },
    filevault: 'off',
    power: { sleepMinutes: 0, diskSleepMinutes: 0, restartAfterPowerLoss: true },
    'wired-limit': { megabytes: 491_520 },
    swap: { usedMegabytes: 0 },
    'boot-session': { uuid: `BOOT-${name}`, bootedAtEpochSeconds: 1_790_000_000 },
    'disk-space': { totalBytes: 7.9e12, freeBytes: 5.1e12 },
    'service-addresses': [],
    files: [],
    trees: [],
    'model-copies': { folders: [], unreadable: [] },
    placements: [],
    services: [],
    gateways: [],
    'rdma-starts': noStarts,
    'reboot-mark': [],
    'foreign-daemons': [],
    'automatic-updates': 'off',
    'software-updates': [],
    'automatic-login': {},
    names: { computerName: name, localHostName: name, hostName: name },
    'screen-sharing': { isLoaded: false, isLoadedAtBoot: false },
    'remote-login': 'on',
    firewall: 'off',
    spotlight: [{ volume: '/', state: 'off' }],
    'time-machine': 'off',
    'photos-analysis': [{ agent: 'com.apple.photoanalysisd', state: 'off' }],
    'panic-reports': [],
    'other-rdma-devices': [],
    jobs: [],
    leases: [],
    hold: [],
    transactions: [],
    keeper: { files: [], isLoaded: false, isRefused: false },
    baseline: { values: [], daemons: [] },
    traces: { hasFolder: false, trees: 'none', hasSudoers: false, hasKey: false },
    login: 'mesh',
    'search-path': ['/usr/bin', '/bin', '/usr/sbin', '/sbin'],
    sudo: 'allowed',
    clock: { offsetMs: 12, uncertaintyMs: 20 },
    ...networkFacts(name, own),
  };
}

/** These values as known facts. */
function knownFacts(values: FactValues): Facts {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, known(value)])) as unknown as Facts;
}

/** A node whose facts are all unknown for the same reason. */
export function unknownNode(name: string, reason: UnknownReason = 'unreachable'): NodeObservation {
  const names = Object.keys(healthyFacts(name, []));
  const facts = Object.fromEntries(names.map((fact) => [fact, unknown(reason, 'it was not observed')]));
  return { node: nodeName(name), facts: facts as unknown as Facts };
}

/** The differences from a healthy rack. */
export interface RackChanges {
  /** The cables that are plugged in; by default the mesh of four. */
  readonly cables?: readonly string[];
  /** The number of receptacles of a node; 6 by default. */
  readonly receptacleCount?: Readonly<Record<string, number>>;
  /** Values that differ, by node and fact. */
  readonly values?: Readonly<Record<string, Partial<FactValues>>>;
  /** Facts that are unknown, by node. */
  readonly unknown?: Readonly<Record<string, Partial<Record<FactName, UnknownReason>>>>;
  /** Nodes that did not answer. */
  readonly unreachable?: readonly string[];
  readonly failures?: FleetObservation['failures'];
  readonly names?: readonly string[];
}

function observeNode(name: string, changes: RackChanges): NodeObservation {
  if (changes.unreachable?.includes(name)) {
    return unknownNode(name);
  }
  const own = receptacles(name, changes.receptacleCount?.[name] ?? 6, changes.cables ?? meshOfFour);
  const facts = knownFacts({ ...healthyFacts(name, own), ...changes.values?.[name] });
  const { 'rdma-starts': starts = noStarts, 'rdma-objects': objects = noObjects } = changes.values?.[name] ?? {};
  const hasStarts = changes.values?.[name]?.placements?.some((one) => one.starts > 1) === true;
  const isCounted = hasStarts || starts !== noStarts || changes.unknown?.[name]?.['rdma-starts'] !== undefined;
  const lacks = isCounted && objects === noObjects ? { 'rdma-objects': 'failed' as const } : {};
  const unobserved = Object.entries({ ...lacks, ...changes.unknown?.[name] }).map(([fact, reason]) => [
    fact,
    unknown(reason, 'a test'),
  ]);
  return { node: nodeName(name), facts: { ...facts, ...Object.fromEntries(unobserved) } };
}

/** A healthy rack of four studios with these changes. */
export function observedFleet(changes: RackChanges = {}): FleetObservation {
  const names = changes.names ?? studios;
  return {
    nodes: Object.fromEntries(names.map((name) => [name, observeNode(name, changes)])),
    failures: changes.failures ?? {},
  };
}

function addressAt(name: string, receptacle: number, declared: readonly Link[]): string | undefined {
  const all = declared.flatMap(({ ends, index }: Link) => endAddresses(ends, networkOf(index)));
  return all.find(({ end }) => end.node === name && end.receptacle === receptacle)?.address;
}

function withAddress(one: NetworkInterface, name: string, declared: readonly Link[]): NetworkInterface {
  const receptacle = Number(/^en([2-7])$/.exec(one.name)?.[1] ?? Number.NaN) - 1;
  const address = addressAt(name, receptacle, declared);
  if (one.status !== 'active' || Number.isNaN(receptacle)) return one;
  // The end of an undeclared cable has the address that macOS assigns.
  const own = { address: `169.254.9.${receptacle}`, prefixLength: 16 };
  return { ...one, ipv4: [address === undefined ? own : { address, prefixLength: 30 }] };
}

/** The facts about a node that matches its file: fixed addresses on every link, stored in the network services. */
export function settledFacts(name: string, cables: readonly string[] = meshOfFour, declared = meshLinks): FactValues {
  const own = receptacles(name, 6, cables);
  const facts = healthyFacts(name, own);
  const ethernet = { name: 'Ethernet', port: 'Ethernet', device: 'en0', isEnabled: true };
  const ports = own.map(({ receptacle }) => ({ port: `Thunderbolt ${receptacle}`, device: `en${receptacle + 1}` }));
  return {
    ...facts,
    interfaces: facts.interfaces.map((one) => withAddress(one, name, declared)),
    'network-services': [ethernet, ...ports.map((one) => ({ name: one.port, ...one, isEnabled: true }))],
    'rdma-ports': facts['rdma-ports'].map((port) => {
      const address = addressAt(name, Number(port.device.replace('rdma_en', '')) - 1, declared);
      const hasGid = port.state === 'active' && address !== undefined;
      const mapped = hasGid ? [{ index: 1, gid: `::ffff:${address}`, ipv4: address }] : [];
      return { ...port, gids: [{ index: 0, gid: 'fe80::1' }, ...mapped] };
    }),
    'service-addresses': own.map(({ receptacle }) => {
      const address = addressAt(name, receptacle, declared);
      const about = { service: `Thunderbolt ${receptacle}`, device: `en${receptacle + 1}` };
      return address === undefined
        ? { ...about, method: 'dhcp' as const }
        : { ...about, method: 'manual' as const, address: { address, prefixLength: 30 } };
    }),
  };
}

/** The facts about all four nodes, to be changed by tests. */
export const settledValues = (cables?: readonly string[]): Readonly<Record<string, FactValues>> =>
  Object.fromEntries(studios.map((name) => [name, settledFacts(name, cables)]));

/** The simulated fleet for a valid file. */
export function simulated(desired: DesiredFleet = desiredRack): SimulatedFleet {
  const result = simulateFleet(desired, 'test');
  if (result.kind === 'fleet') return result.fleet;
  throw new Error(result.diagnostics.map(({ detail }) => plainText(detail)).join('\n'));
}

/** The changed fleet and its faults with canonical targets, or the first fault that could not be applied. */
type FaultsResult =
  | { readonly kind: 'fleet'; readonly fleet: SimulatedFleet; readonly active: readonly ActiveFault[] }
  | { readonly kind: 'refused'; readonly diagnostics: readonly [Diagnostic] };

/**
 * The healthy fleet with these faults, in order. The state is always computed from the healthy fleet, so removing a
 * fault from the list undoes exactly that fault. The same fault twice on one target counts once.
 */
export function applyFaults(healthy: SimulatedFleet, active: readonly ActiveFault[]): FaultsResult {
  let fleet = healthy;
  const canonical: ActiveFault[] = [];
  for (const { fault, target } of active) {
    const result = faults[fault].apply(fleet, target);
    const text = result.kind === 'refused' ? target : result.target;
    if (canonical.some((one) => one.fault === fault && one.target === text)) continue;
    if (result.kind === 'refused') return { kind: 'refused', diagnostics: [result.diagnostic] };
    fleet = result.fleet;
    canonical.push({ fault, target: text });
  }
  return { kind: 'fleet', fleet, active: canonical };
}

/** The fleet with these faults, which must be possible. */
export function broken(fleet: SimulatedFleet, ...active: readonly ActiveFault[]): SimulatedFleet {
  const result = applyFaults(fleet, active);
  if (result.kind === 'fleet') return result.fleet;
  throw new Error(plainText(result.diagnostics[0].detail));
}

/** The texts of a node's files by path. */
export const filesOf = (fleet: SimulatedFleet, node: string): ReadonlyMap<string, string> =>
  new Map(nodeFiles(fleet, node).map(({ path, text }) => [path, text]));

/** The stored answer to one command line; empty if there is no such answer. */
export const answer = (fleet: SimulatedFleet, node: string, name: string): string =>
  filesOf(fleet, node).get(`/.sim/answers/${name}`) ?? '';

/** How two Macs are cabled and set up. */
interface Pair {
  readonly models: readonly [string, string];
  readonly ends: readonly [number, number];
  readonly bridge?: 'remove' | 'keep';
  readonly hasPool?: boolean;
  readonly fileVault?: 'any' | 'enabled';
}

/** Two Macs called `one` and `two` with one cable. */
export function pair({ models, ends, bridge = 'remove', hasPool = true, fileVault = 'any' }: Pair): SimulatedFleet {
  const { pool, ...thunderbolt } = desiredRack.thunderbolt;
  return simulated({
    ...desiredRack,
    nodes: models.map((model, index) => desiredNode(index === 0 ? 'one' : 'two', { model })),
    system: { ...desiredRack.system, fileVault },
    thunderbolt: {
      ...thunderbolt,
      bridge,
      links: links([`one:${ends[0]} <-> two:${ends[1]}`]),
      ...(hasPool && pool !== undefined ? { pool } : {}),
    },
  });
}
