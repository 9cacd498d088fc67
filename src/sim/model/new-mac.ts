import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import { seededBytes, seededInteger, seededMac, seededText, seededUuid } from '../seed.ts';
import { newDirectory } from './directory.ts';
import { loginWindowDomain, softwareUpdateDomain, timeMachineDomain } from './domains.ts';
import type { MacModel } from './hardware.ts';
import { bridgePort, serviceUuid } from './interfaces.ts';
import { ipv4Number, linkLocalText } from './ip-text.ts';
import type { InterfaceAddress, MacState, PortState, ReceptacleState } from './mac.ts';
import { buildOf, newerMacos } from './macos-builds.ts';
import { emptyPreferences, withBridge, withName, withService } from './network-preferences.ts';
import type { PlistDict } from './plist.ts';

/** What a new Mac is made from. Everything that looks random follows from the seed and the node's name. */
export interface NewMac {
  readonly seed: string;
  readonly desired: DesiredFleet;
  readonly node: DesiredNode;
  readonly model: MacModel;
  /** Fixed addresses by receptacle; the others get a self-assigned one. */
  readonly addresses: ReadonlyMap<number, InterfaceAddress>;
  /** Place in the file, for an office address of its own. */
  readonly index: number;
}

const gib = 2 ** 30;
const mib = 2 ** 20;

/** The serial numbers of current Macs are ten letters and digits without a meaning. */
const serialAlphabet = 'CDFGHJKLMNPQRTVWXY0234679';

/** An interface's own link-local address: stable and random-looking (RFC 7217), not made from its MAC address. */
const stableLinkLocal = (words: readonly (string | number)[]): string =>
  linkLocalText([...seededBytes([...words, 'link-local']).subarray(0, 8)]);

/** The password of the account on every simulated Mac. */
/** The ssh user of a node for which the file names none. */
export const defaultUser = 'mesh';

const simulatedPassword = 'simulated';

/** A version of macOS when the file does not care. */
const defaultVersion = '26.5';

/** The healthy Mac of one node, set up as the file says. */
export function newMac(from: NewMac): MacState {
  const { seed, desired, node, model } = from;
  const words = [seed, node.name] as const;
  // A Mac that came with a newer macOS than the file asks for cannot have an older one.
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
    live: {
      ...(desired.thunderbolt.bridge === 'keep' ? { bridge: model.receptacleDevices } : {}),
      addresses: {},
    },
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
    ailments: {
      isRdmaHung: false,
      deadReceptacles: [],
      lacksDomains: false,
      isBridgeRebuilt: false,
      hasFullDiskAccess: true,
      isSharingInternet: false,
      isSlowToStop: false,
      isStayingOff: false,
    },
    directory: newDirectory(node.user ?? defaultUser, words),
    password: simulatedPassword,
    hasKey: true,
    sudo: 'allowed',
    clockOffsetSeconds: 0,
  };
}

/** A new Mac has both files; nobody has chosen in System Settings what the keys stand for. */
const newDomains = ({ macos, system }: DesiredFleet, { user }: DesiredNode): MacState['domains'] => ({
  [softwareUpdateDomain]: macos.automaticUpdates === 'disabled' ? { AutomaticallyInstallMacOSUpdates: false } : {},
  [loginWindowDomain]: system.automaticLogin === 'required' ? { autoLoginUser: user ?? defaultUser } : {},
  [timeMachineDomain]: {},
});

/**
 * While the bridge is untouched macOS has one service for it and none for the receptacles; after it was removed there
 * is one per receptacle.
 */
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
    return withService(preferences, {
      uuid: serviceUuid(hardwareUuid, one.port),
      name: one.port,
      port: one.port,
      device: one.device,
      isEnabled: true,
      ipv4: fixed === undefined ? { kind: 'dhcp' } : { kind: 'manual', ...fixed },
    });
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
      isMappedGidFirst: seededInteger([...own, 'gid-order'], 0, 2) > 0,
    };
  });
}

/** Of 169.254.1.0 to 169.254.254.255 (RFC 3927) those of full length: a screen breaks its lines alike on every rack. */
const selfAssigned = (words: readonly (string | number)[]): string =>
  `169.254.${seededInteger([...words, 'self-assigned'], 100, 254)}.${seededInteger([...words, 'self-assigned-low'], 100, 254)}`;

function newLan({ seed, node, index }: NewMac, ports: readonly PortState[]): MacState['lan'] {
  const wired = ports.find((port) => port.kind === 'ethernet') ?? ports.find((port) => port.kind === 'wifi');
  const device = wired?.device ?? 'en0';
  const isLiteral = ipv4Number(node.host) !== undefined;
  // 198.18.0.0/15 is set aside for tests (RFC 2544), so no pool of a real rack overlaps it.
  const address = isLiteral ? node.host : `198.18.${Math.floor(index / 200)}.${10 + (index % 200)}`;
  return { device, address, linkLocal: stableLinkLocal([seed, node.name, device]) };
}

function wiredLimit({ system }: DesiredFleet, memoryBytes: number): number {
  const limit = system.wiredLimit;
  if (limit === undefined || limit.kind === 'default') return 0;
  const bytes = limit.kind === 'bytes' ? limit.bytes : memoryBytes - Math.max(8 * gib, memoryBytes / 16);
  return Math.floor(bytes / mib);
}

function newDisk(model: MacModel, words: readonly string[]): MacState['disk'] {
  const totalKib = model.diskTotalKib;
  const usedKib = Math.floor((totalKib * seededInteger([...words, 'disk'], 5, 15)) / 100);
  // The sealed system, its recovery and the swap live in the same container.
  return { totalKib, usedKib, availableKib: totalKib - usedKib - 26_000_000 };
}
