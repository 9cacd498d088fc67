import type { Probe } from '../../model/probe.ts';
import { pathWord, place, tool } from '../paths/node-paths.ts';
import {
  awaitKernel,
  dhcpPacketsScript,
  rdmaKernelScript,
  rdmaPortsScript,
  receptacleLocationsScript,
} from './network-scripts.ts';

/** `system_profiler SPThunderboltDataType -json`: buses, receptacles, peers. */
export const thunderboltProfile: Probe = {
  name: 'thunderbolt-profile',
  ask: [tool.systemProfiler, 'SPThunderboltDataType', '-json'],
  deadlineMs: 20_000,
  maxBytes: 524_288,
};

/** The lines of the I/O registry that say where on the case each receptacle is. @see ioreg(8) */
export const receptacleLocations: Probe = {
  name: 'receptacle-locations',
  ask: [tool.sh, '-c', receptacleLocationsScript],
  deadlineMs: 5_000,
  maxBytes: 65_536,
};

/** `networksetup -listallhardwareports`: the only way from a receptacle to its interface. */
export const hardwarePortList: Probe = {
  name: 'hardware-port-list',
  ask: [tool.networksetup, '-listallhardwareports'],
  deadlineMs: 10_000,
  maxBytes: 65_536,
};

/** `networksetup -listnetworkserviceorder`: services with their devices, in order. */
export const serviceOrder: Probe = {
  name: 'service-order',
  ask: [tool.networksetup, '-listnetworkserviceorder'],
  deadlineMs: 10_000,
  maxBytes: 65_536,
};

/**
 * What sshd tells every command, `client-address port own-address port`, then the name of the account that runs it.
 *
 * @see sshd(8), ENVIRONMENT: SSH_CONNECTION
 * @see id(1): -u -n, the name of the effective user
 */
export const sshConnection: Probe = {
  name: 'ssh-connection',
  ask: [tool.sh, '-c', `printf "%s\\n" "\${SSH_CONNECTION-}"; ${pathWord(tool.id)} -un; exit 0`],
  deadlineMs: 5_000,
  maxBytes: 1_024,
};

/** `ifconfig -a`. */
export const ifconfig: Probe = { name: 'ifconfig', ask: [tool.ifconfig, '-a'], deadlineMs: 5_000, maxBytes: 262_144 };

/** What DHCP gave the interfaces of cables, as `ipconfig getpacket` prints it. @see ipconfig(8) */
export const dhcpPackets: Probe = {
  name: 'dhcp-packets',
  ask: [tool.sh, '-c', dhcpPacketsScript],
  deadlineMs: 10_000,
  maxBytes: 262_144,
};

/** `netstat -rn -f inet`: the IPv4 routing table, numbers only. @see netstat(1) */
export const routeTable: Probe = {
  name: 'route-table',
  ask: [tool.netstat, '-rn', '-f', 'inet'],
  deadlineMs: 5_000,
  maxBytes: 131_072,
};

/** The bridges of the network preferences; the file can be read without root. */
export const bridgeKey: Probe = {
  name: 'bridge-key',
  ask: [tool.plutil, '-extract', 'VirtualNetworkInterfaces.Bridge', 'json', '-o', '-', place.networkPreferences],
  deadlineMs: 5_000,
  maxBytes: 65_536,
};

/** The network services of the network preferences: their addresses as they will be after the next boot. XML, since one service with a certificate has no JSON. */
export const networkServicesKey: Probe = {
  name: 'network-services-key',
  ask: [tool.plutil, '-extract', 'NetworkServices', 'xml1', '-o', '-', place.networkPreferences],
  deadlineMs: 5_000,
  maxBytes: 262_144,
};

/** `rdma_ctl status`. @see Apple TN3205 */
export const rdmaCtl: Probe = {
  name: 'rdma-ctl',
  ask: [tool.rdmaCtl, 'status'],
  deadlineMs: 5_000,
  maxBytes: 4_096,
};

/** `nvram rdma-enable`: one variable of the firmware; no root. @see nvram(8) */
export const rdmaVariable: Probe = {
  name: 'rdma-variable',
  ask: [tool.nvram, 'rdma-enable'],
  deadlineMs: 5_000,
  maxBytes: 4_096,
};

/** What the RDMA driver holds in the kernel, and for which processes. Every observation reads it before any verbs tool. */
export const rdmaKernel: Probe = {
  name: 'rdma-kernel',
  ask: [tool.sh, '-c', rdmaKernelScript],
  deadlineMs: 5_000,
  maxBytes: 131_072,
};

/** `ibv_devices`, once the kernel was read. @see Apple TN3205 */
export const ibvDevices: Probe = {
  name: 'ibv-devices',
  ask: [tool.sh, '-c', `${awaitKernel}${pathWord(tool.ibvDevices)}`],
  deadlineMs: 10_000,
  maxBytes: 16_384,
};

/** `ibv_devinfo -v` of all devices, with limits and GIDs, once the kernel was read and unless a rank is starting. @see Apple TN3205 */
export const ibvDevinfo: Probe = {
  name: 'ibv-devinfo',
  ask: [tool.sh, '-c', rdmaPortsScript],
  deadlineMs: 10_000,
  maxBytes: 262_144,
};
