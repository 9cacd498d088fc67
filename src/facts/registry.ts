import type { FactName } from '../model/fact-values.ts';
import type { Probe } from '../model/probe.ts';
import { accounts } from './accounts.ts';
import { automaticLogin } from './automatic-login.ts';
import { automaticUpdates } from './automatic-updates.ts';
import { baseline } from './baseline.ts';
import { bootSession } from './boot-session.ts';
import { bridgePreferences } from './bridge-preferences.ts';
import { clock } from './clock.ts';
import { dhcpLeases } from './dhcp-leases.ts';
import { diskSpace } from './disk-space.ts';
import { doormen } from './doormen.ts';
import type { Fact } from './fact.ts';
import { files } from './files.ts';
import { filevault } from './filevault.ts';
import { firewall } from './firewall.ts';
import { foreignDaemons } from './foreign-daemons.ts';
import { hardware } from './hardware.ts';
import { hardwarePorts } from './hardware-ports.ts';
import { hold } from './hold.ts';
import { identity } from './identity.ts';
import { interfaces } from './interfaces.ts';
import { jobs } from './jobs.ts';
import { keeper } from './keeper.ts';
import { leases } from './leases.ts';
import { login } from './login.ts';
import { macosVersion } from './macos-version.ts';
import { names } from './names.ts';
import { networkServices } from './network-services.ts';
import { otherRdmaDevices } from './other-rdma-devices.ts';
import { panicReports } from './panic-reports.ts';
import { photosAnalysis } from './photos-analysis.ts';
import { placements } from './placements.ts';
import { power } from './power.ts';
import { ibvDevices, ibvDevinfo, rdmaKernel } from './probes/network.ts';
import { placementMembers, unaskedMembers } from './probes/ours.ts';
import { softwareUpdateList, sudo as sudoShell } from './probes/system.ts';
import { rdmaDevices } from './rdma-devices.ts';
import { rdmaHolders, rdmaObjects } from './rdma-kernel.ts';
import { rdmaPorts } from './rdma-ports.ts';
import { rdmaStarts } from './rdma-starts.ts';
import { rdmaState } from './rdma-state.ts';
import { rdmaSwitch } from './rdma-switch.ts';
import { rebootMark } from './reboot-mark.ts';
import { receptaclePlaces } from './receptacle-places.ts';
import { remoteLogin } from './remote-login.ts';
import { rollbacks } from './rollbacks.ts';
import { routes } from './routes.ts';
import { screenSharing } from './screen-sharing.ts';
import { searchPath } from './search-path.ts';
import { serviceAddresses } from './service-addresses.ts';
import { services } from './services.ts';
import { softwareUpdates } from './software-updates.ts';
import { spotlight } from './spotlight.ts';
import { sudo } from './sudo.ts';
import { thunderbolt } from './thunderbolt.ts';
import { timeMachine } from './time-machine.ts';
import { traces } from './traces.ts';
import { trees } from './trees.ts';
import { wiredLimit } from './wired-limit.ts';

/** Every fact by name. A new fact is its file, its value in `FactValues` and its line here. */
export const registry: { readonly [K in FactName]: Fact<K> } = {
  'macos-version': macosVersion,
  hardware,
  identity,
  thunderbolt,
  'receptacle-places': receptaclePlaces,
  'hardware-ports': hardwarePorts,
  interfaces,
  'dhcp-leases': dhcpLeases,
  routes,
  'bridge-preferences': bridgePreferences,
  'network-services': networkServices,
  'rdma-state': rdmaState,
  'rdma-switch': rdmaSwitch,
  'rdma-devices': rdmaDevices,
  'other-rdma-devices': otherRdmaDevices,
  'rdma-ports': rdmaPorts,
  'rdma-objects': rdmaObjects,
  'rdma-holders': rdmaHolders,
  filevault,
  power,
  'wired-limit': wiredLimit,
  'boot-session': bootSession,
  'disk-space': diskSpace,
  'service-addresses': serviceAddresses,
  files,
  trees,
  placements,
  services,
  doormen,
  'rdma-starts': rdmaStarts,
  'reboot-mark': rebootMark,
  'foreign-daemons': foreignDaemons,
  'automatic-updates': automaticUpdates,
  'software-updates': softwareUpdates,
  'automatic-login': automaticLogin,
  names,
  'screen-sharing': screenSharing,
  'remote-login': remoteLogin,
  firewall,
  spotlight,
  'time-machine': timeMachine,
  'photos-analysis': photosAnalysis,
  'panic-reports': panicReports,
  jobs,
  leases,
  hold,
  rollbacks,
  keeper,
  baseline,
  traces,
  login,
  accounts,
  'search-path': searchPath,
  sudo,
  clock,
};

/** The names of all facts, in the order in which they are shown. */
export const factNames = Object.keys(registry) as readonly FactName[];

/**
 * Every probe that some fact reads, each once: what one observation asks. The RDMA kernel objects come first and the
 * verbs tools last, since these wait for it.
 */
export function allProbes(): readonly Probe[] {
  const verbs = [ibvDevices, ibvDevinfo];
  const others = factNames.flatMap((name) => registry[name].from).filter((probe) => !verbs.includes(probe));
  return [...new Set([rdmaKernel, ...others, ...verbs])];
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
