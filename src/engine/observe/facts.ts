import type { Probe } from '../../model/facts/probe.ts';
import type { Known } from '../../model/known.ts';
import { ibvDevices, ibvDevinfo, rdmaKernel } from '../../node/probes/network.ts';
import { keptRecords, keptRecordsWith, placementMembers, unaskedMembers } from '../../node/probes/ours.ts';
import { softwareUpdateList, sudo as sudoShell } from '../../node/probes/system.ts';
import { login } from '../../rack/access/login-fact.ts';
import { searchPath } from '../../rack/access/search-path-fact.ts';
import { sudo } from '../../rack/access/sudo-fact.ts';
import { accounts } from '../../rack/accounts/fact.ts';
import { bootSession } from '../../rack/boot/boot-session-fact.ts';
import { diskSpace } from '../../rack/boot/disk-space-fact.ts';
import { panicReports } from '../../rack/boot/panic-reports-fact.ts';
import { bridgePreferences } from '../../rack/bridge/fact.ts';
import { thunderbolt } from '../../rack/cables/fact.ts';
import { receptaclePlaces } from '../../rack/cables/receptacle-places-fact.ts';
import { clock } from '../../rack/clock/fact.ts';
import type { FactDefinition } from '../../rack/fact.ts';
import { filevault } from '../../rack/filevault/fact.ts';
import { foreignDaemons } from '../../rack/foreign-daemon/fact.ts';
import { hold } from '../../rack/hold/hold-fact.ts';
import { hardware } from '../../rack/identity/hardware-fact.ts';
import { identity } from '../../rack/identity/identity-fact.ts';
import { keeper } from '../../rack/keeper/fact.ts';
import { macosVersion } from '../../rack/macos/fact.ts';
import { softwareUpdates } from '../../rack/macos/software-updates-fact.ts';
import { wiredLimit } from '../../rack/memory/fact.ts';
import { dhcpLeases } from '../../rack/network/dhcp-leases-fact.ts';
import { hardwarePorts } from '../../rack/network/hardware-ports-fact.ts';
import { interfaces } from '../../rack/network/interfaces-fact.ts';
import { networkServices } from '../../rack/network/network-services-fact.ts';
import { routes } from '../../rack/network/routes-fact.ts';
import { serviceAddresses } from '../../rack/network/service-addresses-fact.ts';
import { rollbacks } from '../../rack/network/transaction/fact.ts';
import { placements } from '../../rack/placement/observed/fact.ts';
import { rebootMark } from '../../rack/placement/observed/reboot-mark-fact.ts';
import { rdmaStarts } from '../../rack/placement/observed/starts-fact.ts';
import { rdmaDevices } from '../../rack/rdma/devices-fact.ts';
import { rdmaHolders, rdmaObjects } from '../../rack/rdma/kernel-fact.ts';
import { otherRdmaDevices } from '../../rack/rdma/other-devices-fact.ts';
import { rdmaPorts } from '../../rack/rdma/ports-fact.ts';
import { rdmaState } from '../../rack/rdma/state-fact.ts';
import { rdmaSwitch } from '../../rack/rdma/switch-fact.ts';
import { files } from '../../rack/records/files-fact.ts';
import { doormen } from '../../rack/records/gateways-fact.ts';
import { jobs } from '../../rack/records/jobs-fact.ts';
import { leases } from '../../rack/records/leases-fact.ts';
import { services } from '../../rack/records/services-fact.ts';
import { trees } from '../../rack/records/trees-fact.ts';
import { loginWindow } from '../../rack/settings/login-window.ts';
import { names } from '../../rack/settings/names.ts';
import { power } from '../../rack/settings/power.ts';
import { settings } from '../../rack/settings/settings.ts';
import { updates } from '../../rack/settings/updates.ts';
import { baseline, comparedKeys } from '../../rack/uninstall/baseline.ts';
import { traces } from '../../rack/uninstall/traces-fact.ts';

/** Every fact, in the order in which they are shown; of one that is listed twice the first place counts. */
const listed = [
  macosVersion,
  hardware,
  identity,
  thunderbolt,
  receptaclePlaces,
  hardwarePorts,
  interfaces,
  dhcpLeases,
  routes,
  bridgePreferences,
  networkServices,
  rdmaState,
  rdmaSwitch,
  rdmaDevices,
  otherRdmaDevices,
  rdmaPorts,
  rdmaObjects,
  rdmaHolders,
  filevault,
  power.fact,
  wiredLimit,
  bootSession,
  diskSpace,
  serviceAddresses,
  files,
  trees,
  placements,
  services,
  doormen,
  rdmaStarts,
  rebootMark,
  foreignDaemons,
  updates.fact,
  softwareUpdates,
  loginWindow.fact,
  names.fact,
  ...settings.map(({ fact }) => fact),
  panicReports,
  jobs,
  leases,
  hold,
  rollbacks,
  keeper,
  baseline,
  traces,
  login,
  accounts,
  searchPath,
  sudo,
  clock,
] as const;

type Listed = (typeof listed)[number];

type Registry = { readonly [F in Listed as F['name']]: F };

/** The same by name. A new one is its definition and its line above, or in the list of settings. */
export const registry = Object.fromEntries(listed.map((fact) => [fact.name, fact])) as Registry;

/** The name of a fact. */
export type FactName = keyof Registry;

/** What a fact of each name says. */
export type FactValues = {
  readonly [K in FactName]: Registry[K] extends FactDefinition<K, infer V> ? V : never;
};

/** An observation with every fact by its name, for what goes through all of them. */
export type EveryFact = { readonly [K in FactName]: Known<FactValues[K]> };

/** Whether there is a fact of this name. */
export const isFactName = (name: string): name is FactName => Object.hasOwn(registry, name);

/** The names of all facts, in the order in which they are shown. */
export const factNames = Object.keys(registry) as readonly FactName[];

/**
 * Every probe that some fact reads, each once: what one observation asks. The RDMA kernel objects come first and the
 * verbs tools last, since these wait for it.
 */
export function allProbes(): readonly Probe[] {
  const verbs = [ibvDevices, ibvDevinfo];
  const others = factNames
    .flatMap((name): readonly Probe[] => registry[name].from)
    .filter((probe) => !verbs.includes(probe));
  return [...new Set([rdmaKernel, ...others, ...verbs])].map((probe) =>
    probe === keptRecords ? keptRecordsWith(comparedKeys) : probe,
  );
}

/** The same without requests to an endpoint. */
export const unaskingProbes = (): readonly Probe[] =>
  allProbes().map((probe) => (probe === placementMembers ? unaskedMembers : probe));

/**
 * For observations between the phases of a start: also without a list of updates, and without sudo, which was asked before
 * the start; each time it starts a shell as root, or leaves a refusal in the log of the Mac.
 */
export const quietProbes = (): readonly Probe[] =>
  unaskingProbes().filter((probe) => probe !== softwareUpdateList && probe !== sudoShell);

/** All that the fact `placements` reads, and so the request for one token: what `unaskingProbes` leaves out. */
export const tokenProbes = (): readonly Probe[] => registry.placements.from;
