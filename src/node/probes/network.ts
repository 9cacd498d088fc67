import { pathWord, place, tool } from '../paths/node-paths.ts';
import {
  awaitKernel,
  dhcpPacketsScript,
  rdmaKernelScript,
  rdmaPortsScript,
  receptacleLocationsScript,
} from './network-scripts.ts';
import { probe } from './probe.ts';

/** `system_profiler SPThunderboltDataType -json`: buses, receptacles, peers. */
export const thunderboltProfile = probe(
  'thunderbolt-profile',
  [tool.systemProfiler, 'SPThunderboltDataType', '-json'],
  20_000,
  524_288,
);

/** The lines of the I/O registry that say where on the case each receptacle is. @see ioreg(8) */
export const receptacleLocations = probe(
  'receptacle-locations',
  [tool.sh, '-c', receptacleLocationsScript],
  5_000,
  65_536,
);

/** `networksetup -listallhardwareports`: the only way from a receptacle to its interface. */
export const hardwarePortList = probe(
  'hardware-port-list',
  [tool.networksetup, '-listallhardwareports'],
  10_000,
  65_536,
);

/** `networksetup -listnetworkserviceorder`: services with their devices, in order. */
export const serviceOrder = probe('service-order', [tool.networksetup, '-listnetworkserviceorder'], 10_000, 65_536);

/**
 * What sshd tells every command, `client-address port own-address port`, then the name of the account that runs it.
 *
 * @see sshd(8), ENVIRONMENT: SSH_CONNECTION
 * @see id(1): -u -n, the name of the effective user
 */
export const sshConnection = probe(
  'ssh-connection',
  [tool.sh, '-c', `printf "%s\\n" "\${SSH_CONNECTION-}"; ${pathWord(tool.id)} -un; exit 0`],
  5_000,
  1_024,
);

/** `ifconfig -a`. */
export const ifconfig = probe('ifconfig', [tool.ifconfig, '-a'], 5_000, 262_144);

/** What DHCP gave the interfaces of cables, as `ipconfig getpacket` prints it. @see ipconfig(8) */
export const dhcpPackets = probe('dhcp-packets', [tool.sh, '-c', dhcpPacketsScript], 10_000, 262_144);

/** `netstat -rn -f inet`: the IPv4 routing table, numbers only. @see netstat(1) */
export const routeTable = probe('route-table', [tool.netstat, '-rn', '-f', 'inet'], 5_000, 131_072);

/** The bridges of the network preferences; the file can be read without root. */
export const bridgeKey = probe(
  'bridge-key',
  [tool.plutil, '-extract', 'VirtualNetworkInterfaces.Bridge', 'json', '-o', '-', place.networkPreferences],
  5_000,
  65_536,
);

/** The network services of the network preferences: their addresses as they will be after the next boot. XML, since one service with a certificate has no JSON. */
export const networkServicesKey = probe(
  'network-services-key',
  [tool.plutil, '-extract', 'NetworkServices', 'xml1', '-o', '-', place.networkPreferences],
  5_000,
  262_144,
);

/** `rdma_ctl status`. @see Apple TN3205 */
export const rdmaCtl = probe('rdma-ctl', [tool.rdmaCtl, 'status'], 5_000, 4_096);

/** `nvram rdma-enable`: one variable of the firmware; no root. @see nvram(8) */
export const rdmaVariable = probe('rdma-variable', [tool.nvram, 'rdma-enable'], 5_000, 4_096);

/** What the RDMA driver holds in the kernel, and for which processes. Every observation reads it before any verbs tool. */
export const rdmaKernel = probe('rdma-kernel', [tool.sh, '-c', rdmaKernelScript], 5_000, 131_072);

/** `ibv_devices`, once the kernel was read. @see Apple TN3205 */
export const ibvDevices = probe(
  'ibv-devices',
  [tool.sh, '-c', `${awaitKernel}${pathWord(tool.ibvDevices)}`],
  10_000,
  16_384,
);

/** `ibv_devinfo -v` of all devices, with limits and GIDs, once the kernel was read and unless a rank is starting. @see Apple TN3205 */
export const ibvDevinfo = probe('ibv-devinfo', [tool.sh, '-c', rdmaPortsScript], 10_000, 262_144);
