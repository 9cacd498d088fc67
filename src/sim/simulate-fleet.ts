import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic, NonEmpty } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { type LinkEnd, linkEndText, nodeName } from '../model/node.ts';
import { linkSubject, nodeSubject } from '../model/subject.ts';
import type { Cable } from './model/cables.ts';
import { newDirectory } from './model/directory.ts';
import type { InterfaceAddress, MacState, PortState, ReceptacleState, SimulatedFleet } from './model/fleet.ts';
import { macModelOf, modelIds, type SimulatedModel } from './model/hardware.ts';
import { ipv4Number, ipv4Text, linkLocalText } from './model/ip-text.ts';
import { buildOf, newerMacos } from './model/macos-builds.ts';
import {
  bridgePort,
  emptyPreferences,
  newService,
  serviceUuid,
  withBridge,
  withName,
  withService,
  withWholeBridge,
} from './model/network.ts';
import { loginWindowDomain, softwareUpdateDomain, timeMachineDomain } from './model/node-files.ts';
import type { PlistDict } from './model/plist.ts';
import { type SeedWords, seededBytes, seededInteger, seededMac, seededText, seededUuid } from './model/seed.ts';

type FleetResult =
  | { readonly kind: 'fleet'; readonly fleet: SimulatedFleet }
  | { readonly kind: 'refused'; readonly diagnostics: NonEmpty<Diagnostic> };

/** The model of a Mac if the file sets none. */
const defaultModelId = 'Mac15,14';

/** Models by node name; undefined for an unknown model. */
type Models = ReadonlyMap<string, SimulatedModel | undefined>;

const modelIdOf = (node: DesiredNode): string => node.hardware.model ?? defaultModelId;

/**
 * Creates the rack of a cluster file in exactly the declared state: one Mac per node, all cables plugged in, RDMA
 * enabled. The same file and seed give the same serial numbers, UUIDs and addresses. Refuses unknown models and
 * receptacles (`sim/unknown-model`, `sim/unusable-link`, `sim/pool-too-small`).
 */
export function simulateFleet(desired: DesiredFleet, seed: string): FleetResult {
  const models: Models = new Map(desired.nodes.map((node) => [node.name, macModelOf(modelIdOf(node))]));
  const [first, ...rest] = [
    ...desired.nodes.filter(({ name }) => models.get(name) === undefined).map(unknownModel),
    ...unusableLinks(desired, models),
    ...smallPool(desired),
  ];
  if (first !== undefined) return { kind: 'refused', diagnostics: [first, ...rest] };
  const fleet: SimulatedFleet = {
    macs: desired.nodes.flatMap((node, index) => {
      const model = models.get(node.name);
      const addresses = fixed(desired, node);
      return model === undefined ? [] : [newMac({ seed, desired, node, model, index, addresses })];
    }),
    cables: desired.thunderbolt.links.map(({ ends }): Cable => ({ ends, gigabitsPerSecond: 80 })),
    hanging: [],
    strangers: [],
    misdirected: {},
  };
  return { kind: 'fleet', fleet };
}

const unknownModel = (node: DesiredNode): Diagnostic =>
  diagnose('sim/unknown-model', {
    detail: `${node.name} is declared as ${modelIdOf(node)}, whose receptacles and interfaces are unknown.`,
    hint: `Rehearse with one of ${modelIds.join(', ')}.`,
    subject: nodeSubject(node.name),
  });

function unusableLinks({ thunderbolt }: DesiredFleet, models: Models): readonly Diagnostic[] {
  const taken = new Set<string>();
  return thunderbolt.links.flatMap(({ ends }) =>
    ends.flatMap((end) => {
      const reason = whyUnusable(end, models, taken);
      taken.add(linkEndText(end));
      if (reason === undefined) return [];
      const detail = `The cable ${ends.map(linkEndText).join(' <-> ')} cannot be plugged in: ${reason}.`;
      return [diagnose('sim/unusable-link', { detail, subject: linkSubject(ends) })];
    }),
  );
}

function whyUnusable(end: LinkEnd, models: Models, taken: ReadonlySet<string>): string | undefined {
  if (!models.has(end.node)) return `node ${end.node} does not exist`;
  if (taken.has(linkEndText(end))) return `receptacle ${end.receptacle} of ${end.node} already has a different cable`;
  const model = models.get(end.node);
  if (model === undefined || (end.receptacle >= 1 && end.receptacle <= model.receptacleDevices.length))
    return undefined;
  return `${end.node} is a ${model.id} with receptacles 1 to ${model.receptacleDevices.length}`;
}

const slashThirty = 4;

function smallPool({ thunderbolt: { pool, links } }: DesiredFleet): readonly Diagnostic[] {
  if (pool === undefined) return [];
  const room = Math.floor(2 ** (32 - pool.prefixLength) / slashThirty);
  if (ipv4Number(pool.address) !== undefined && links.length <= room) return [];
  const size = `has room for ${room} links of four addresses; ${links.length} are declared`;
  return [diagnose('sim/pool-too-small', { detail: `${pool.address}/${pool.prefixLength} ${size}.` })];
}

/** Each link uses its declared network or the n-th /30 of the pool. The end that sorts first has the lower address. */
function fixed({ thunderbolt }: DesiredFleet, node: DesiredNode): ReadonlyMap<number, InterfaceAddress> {
  const addresses = new Map<number, InterfaceAddress>();
  const { pool, links, networks } = thunderbolt;
  const base = pool === undefined ? undefined : ipv4Number(pool.address);
  links.forEach((link, index) => {
    const network = networks[link.index];
    const inOrder = base === undefined ? undefined : base + index * slashThirty;
    const first = network === undefined ? inOrder : ipv4Number(network.address);
    if (first === undefined) return;
    const ends = [...link.ends].sort((one, other) => (linkEndText(one) < linkEndText(other) ? -1 : 1));
    ends.forEach((end, side) => {
      const address = ipv4Text(first + 1 + side);
      if (end.node === node.name) addresses.set(end.receptacle, { address, prefixLength: 30 });
    });
  });
  return addresses;
}

/** Parameters of a new Mac. All random-looking values are derived from the seed and the node's name. */
interface NewMac {
  readonly seed: string;
  readonly desired: DesiredFleet;
  readonly node: DesiredNode;
  readonly model: SimulatedModel;
  /** Fixed addresses by receptacle. The other receptacles get self-assigned addresses. */
  readonly addresses: ReadonlyMap<number, InterfaceAddress>;
  /** Position in the file, which determines the office address. */
  readonly index: number;
}

const gib = 2 ** 30;
const mib = 2 ** 20;

/** Serial numbers of current Macs are ten meaningless letters and digits. */
const serialAlphabet = 'CDFGHJKLMNPQRTVWXY0234679';

/** An interface's link-local address: stable and random-looking (RFC 7217), not derived from the MAC address. */
const stableLinkLocal = (words: SeedWords): string =>
  linkLocalText([...seededBytes([...words, 'link-local']).subarray(0, 8)]);

/** A node's ssh user if the file sets none. */
export const defaultUser = 'mesh';

const simulatedPassword = 'simulated';

/** The macOS version if the file sets none. */
const defaultVersion = '26.5';

function newMac(from: NewMac): MacState {
  const { seed, desired, node, model } = from;
  const words = [seed, node.name] as const;
  // A Mac cannot run an older macOS than its model's first version.
  const version = newerMacos(desired.macos.version ?? defaultVersion, model.firstMacos);
  const memoryBytes = node.hardware.memoryBytes ?? model.defaultMemoryGib * gib;
  const ports = model.ports.map((port) => ({ ...port, macAddress: seededMac([...words, port.device], 'd0:11:e5') }));
  return {
    name: node.name,
    model,
    memoryBytes,
    serial: node.hardware.serial ?? seededText([...words, 'serial'], serialAlphabet, 10),
    hardwareUuid: seededUuid([...words, 'hardware']),
    macos: { version, build: buildOf(version) },
    receptacles: newReceptacles(from),
    ports,
    lan: newLan(from, ports),
    isRdmaEnabled: true,
    preferences: newPreferences(from, ports),
    live: { ...(desired.thunderbolt.bridge === 'keep' ? { bridge: model.receptacleDevices } : {}), addresses: {} },
    domains: newDomains(desired, node),
    firewall: 0,
    indexed: desired.system.backgroundServices === 'stop' ? [] : ['/', '/System/Volumes/Data'],
    isFileVaultOn: desired.system.fileVault === 'enabled',
    power: {
      sleepMinutes: desired.power.sleepMinutes ?? 0,
      diskSleepMinutes: desired.power.sleepMinutes ?? 0,
      restartsAfterPowerLoss: !model.isLaptop && (desired.power.restartAfterPowerLoss ?? false),
    },
    wiredLimitMegabytes: wiredLimit(desired, memoryBytes),
    bootSession: {
      uuid: seededUuid([...words, 'boot', 0]),
      count: 0,
      bootedAtEpochSeconds: 1_780_300_800 + seededInteger([...words, 'boot-time'], 0, 86_400),
    },
    disk: newDisk(model, words),
    connection: { hostKey: 'own', filevault: 'unlocked' },
    ailments: { deadReceptacles: [], hasFullDiskAccess: true },
    directory: newDirectory(node.user ?? defaultUser, words),
    password: simulatedPassword,
    hasKey: true,
    sudo: 'allowed',
    clockOffsetSeconds: 0,
  };
}

/** The preference files of a new Mac. Each key is missing until a person or the cluster file changes the setting. */
const newDomains = ({ macos, system }: DesiredFleet, { user }: DesiredNode): MacState['domains'] => ({
  [softwareUpdateDomain]: macos.automaticUpdates === 'disabled' ? { AutomaticallyInstallMacOSUpdates: false } : {},
  [loginWindowDomain]: system.automaticLogin === 'required' ? { autoLoginUser: user ?? defaultUser } : {},
  [timeMachineDomain]: {},
});

/** macOS has one service for the bridge while it exists, otherwise one for each receptacle. */
function newPreferences({ seed, node, desired, model, addresses }: NewMac, ports: readonly PortState[]): PlistDict {
  const isBridged = desired.thunderbolt.bridge === 'keep';
  const hardwareUuid = seededUuid([seed, node.name, 'hardware']);
  const unnamed = emptyPreferences(node.name, serviceUuid(hardwareUuid, 'set'));
  const empty = desired.system.computerName === 'node' ? withName(unnamed, 'HostName', node.name) : unnamed;
  const plain = ports.filter(({ kind }) => kind !== 'adapter');
  const single = model.receptacleDevices.map((device, bus) => ({ port: `Thunderbolt ${bus + 1}`, device, bus }));
  const named = isBridged ? [...plain, { port: bridgePort, device: 'bridge0' }] : [...plain, ...single];
  const bridged: PlistDict = isBridged
    ? withBridge(empty, model.receptacleDevices)
    : { ...empty, VirtualNetworkInterfaces: { Bridge: {} } };
  return named.reduce((preferences, one) => {
    const fixed = 'bus' in one ? addresses.get(one.bus + 1) : undefined;
    const service = newService(hardwareUuid, one.port, one.port, one.device);
    return withService(preferences, fixed === undefined ? service : { ...service, ipv4: { kind: 'manual', ...fixed } });
  }, bridged);
}

function newReceptacles({ seed, node, model }: NewMac): readonly ReceptacleState[] {
  const words = [seed, node.name] as const;
  const domain = seededText([...words, 'switch'], '0123456789ABCDEF', 11);
  const base = seededMac([...words, 'thunderbolt'], '36').slice(0, -2);
  const lowest = seededInteger([...words, 'thunderbolt-low'], 0, 6) * 0x20;
  return model.receptacleDevices.map((device, bus) => {
    const own = [...words, 'bus', bus] as const;
    return {
      number: bus + 1,
      bus,
      domainUuid: seededUuid([...own, 'domain']),
      switchUid: `05AC${domain}${bus}`,
      device,
      macAddress: `${base}${(lowest + bus * 4).toString(16).padStart(2, '0')}`,
      linkLocal: stableLinkLocal(own),
      ipServiceUuid: seededUuid([...own, 'ip-service']),
      rdmaServiceUuid: seededUuid([...own, 'rdma-service']),
      selfAssigned: selfAssigned(own),
      isMappedGidFirst: true,
    };
  });
}

/** A self-assigned address (RFC 3927), always of maximum length, so that lines wrap in the same way on every rack. */
const selfAssigned = (words: SeedWords): string =>
  `169.254.${seededInteger([...words, 'self-assigned'], 100, 254)}.${seededInteger([...words, 'self-assigned-low'], 100, 254)}`;

function newLan({ seed, node, index }: NewMac, ports: readonly PortState[]): MacState['lan'] {
  const wired = ports.find((port) => port.kind === 'ethernet') ?? ports.find((port) => port.kind === 'wifi');
  const device = wired?.device ?? 'en0';
  const isLiteral = ipv4Number(node.host) !== undefined;
  // 198.18.0.0/15 is reserved for tests (RFC 2544), so no pool of a real rack overlaps it.
  const address = isLiteral ? node.host : `198.18.${Math.floor(index / 200)}.${10 + (index % 200)}`;
  return { device, address, linkLocal: stableLinkLocal([seed, node.name, device]) };
}

function wiredLimit({ system }: DesiredFleet, memoryBytes: number): number {
  const limit = system.wiredLimit;
  if (limit === undefined || limit.kind === 'default') return 0;
  const bytes = limit.kind === 'bytes' ? limit.bytes : memoryBytes - Math.max(8 * gib, memoryBytes / 16);
  return Math.floor(bytes / mib);
}

function newDisk(model: SimulatedModel, words: readonly string[]): MacState['disk'] {
  const totalKib = model.diskTotalKib;
  const usedKib = Math.floor((totalKib * seededInteger([...words, 'disk'], 5, 15)) / 100);
  // The sealed system volume, recovery and swap are in the same container.
  return { totalKib, usedKib, availableKib: totalKib - usedKib - 26_000_000 };
}

/** A name that no node in a file can have, because node names cannot contain dots. */
const nameOf = (index: number): string => `outside.${index}`;

function strangeReceptacle(receptacle: ReceptacleState, words: SeedWords): ReceptacleState {
  const own = [...words, receptacle.bus] as const;
  return {
    ...receptacle,
    domainUuid: seededUuid([...own, 'domain']),
    switchUid: `05AC${seededText([...words, 'switch'], '0123456789ABCDEF', 11)}${receptacle.bus}`,
    ipServiceUuid: seededUuid([...own, 'ip-service']),
    rdmaServiceUuid: seededUuid([...own, 'rdma-service']),
    macAddress: seededMac([...own, 'mac'], '36'),
  };
}

/** A Mac of the same model that is not in the file, with RDMA off and no network service, derived from `mac`. */
export function strangerLike(mac: MacState, index: number): MacState {
  const words = [mac.hardwareUuid, 'stranger', index] as const;
  const hardwareUuid = seededUuid([...words, 'hardware']);
  return {
    ...mac,
    name: nodeName(nameOf(index)),
    serial: seededText([...words, 'serial'], serialAlphabet, 10),
    hardwareUuid,
    receptacles: mac.receptacles.map((receptacle) => strangeReceptacle(receptacle, words)),
    isRdmaEnabled: false,
    preferences: emptyPreferences(nameOf(index), seededUuid([...words, 'set'])),
    live: { addresses: {} },
  };
}

/** Preferences without the bridge: one service on DHCP for each port except adapters. */
function preferencesOf({ name, hardwareUuid, ports }: MacState): MacState['preferences'] {
  const empty = emptyPreferences(name, serviceUuid(hardwareUuid, 'set'));
  return ports
    .filter(({ kind }) => kind !== 'adapter')
    .reduce((before, { port, device }) => withService(before, newService(hardwareUuid, port, port, device)), empty);
}

const personOn = ({ directory: { users } }: MacState): string =>
  Object.keys(users).find((name) => users[name]?.['UniqueID'] === '501') ?? 'root';

/**
 * A new Mac after Setup Assistant: a Thunderbolt Bridge with all receptacles, each service on DHCP, RDMA off (Apple
 * TN3205), and macOS's default settings for power, updates, Spotlight and login. The Mac is not enrolled. Account,
 * Remote Login and FileVault, which a person sets up, match the file.
 */
export function outOfBox(mac: MacState): MacState {
  const { panics: _, isRdmaWaiting: __, ...rest } = mac;
  return withWholeBridge({
    ...rest,
    isRdmaEnabled: false,
    preferences: preferencesOf(mac),
    directory: newDirectory(personOn(mac), [mac.hardwareUuid]),
    live: { addresses: {} },
    domains: { [softwareUpdateDomain]: {}, [loginWindowDomain]: {}, [timeMachineDomain]: {} },
    firewall: 0,
    indexed: ['/', '/System/Volumes/Data'],
    power: { sleepMinutes: 1, diskSleepMinutes: 10, restartsAfterPowerLoss: false },
    wiredLimitMegabytes: 0,
    hasKey: false,
    sudo: 'needs-password',
  });
}
