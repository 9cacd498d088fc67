import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about addresses and routes of the cables. */
export const networkCodes = {
  'address/pool-overlap': {
    severity: 'error',
    summary: 'The address pool of the links overlaps a network that nodes are in, or have a route to.',
    cause:
      'An interface other than a Thunderbolt receptacle has an address in the network of a link, or a route leads there, or they leave no network of thunderbolt.addressing.pool for every link: what was meant for that network would go over a cable. Networks of the pool that others use are given to no new link; what was given out stays.',
    hint: 'Choose another pool in the file.',
  },
  'address/by-dhcp': {
    severity: 'error',
    summary: 'A cable has an address that changes by itself.',
    cause:
      'The network service of the receptacle is on DHCP, as macOS sets it up and sometimes again. Nobody answers on a cable, so the Mac gives itself an address, minutes after a start and another one after each break of the link; the GID of RDMA goes with it (works for days, then errno 22).',
    hint: prose`Give it a fixed address with ${meshwright('apply')}.`,
  },
  'address/ipv4-off': {
    severity: 'error',
    summary: 'IPv4 is off on a cable. RDMALink prepares Macs this way, for RDMA over IPv6 only.',
    cause:
      'The network service of the receptacle has IPv6 link-local addresses only. The jaccl of MLX needs the IPv4-mapped GID, which a receptacle without an IPv4 address does not have.',
    hint: prose`Give the cables fixed addresses with ${meshwright('apply')}.`,
  },
  'network/default-route-over-cable': {
    severity: 'error',
    summary: 'A Thunderbolt cable has a default route.',
    cause:
      'The Mac at the far end shares its Internet connection, or somebody wrote a router into the service of the receptacle: what is meant for the rest of the world goes over the cable.',
    hint: 'Switch Internet Sharing off at the far end: System Settings > General > Sharing.',
  },
  'network/lease-over-cable': {
    severity: 'warning',
    summary: 'A Thunderbolt cable has an address from a DHCP server.',
    cause:
      'The Mac accepted a DHCP lease for the address that it has on this cable (`ipconfig getpacket`). On a cable between two Macs only Internet Sharing gives leases. The address changes or disappears with Internet Sharing.',
    hint: 'Switch Internet Sharing off at the far end: System Settings > General > Sharing.',
  },
  'network/suspected-lease': {
    severity: 'warning',
    summary: 'A Thunderbolt cable is suspected to have an address from a DHCP server.',
    cause:
      'The network service of the receptacle is on DHCP, and its address is neither the declared one nor self-assigned. The DHCP packet of the interface is unknown, so a person or another program may have set the address. On a cable between two Macs only Internet Sharing gives leases.',
    hint: 'Switch Internet Sharing off at the far end: System Settings > General > Sharing.',
  },
  'network/service-order': {
    severity: 'warning',
    summary: 'A Thunderbolt service stands before the office network.',
    cause:
      'macOS tries its network services in their order: the first one with a router is the way to the rest of the world. As soon as a cable has one, by Internet Sharing or by mistake, everything goes over it.',
    hint: prose`Put the services of the receptacles last with ${meshwright('apply')}.`,
  },
  'network/unconfirmed-change': {
    severity: 'warning',
    summary: 'A change of the network waits on this node for its confirmation.',
    cause:
      'A run changed the network of this node and has not confirmed yet that the node is still reached: it goes on, or it was cut off. Without a confirmation the node puts its network back to what it was before.',
    hint: prose`When that run is over, settle it with ${meshwright('apply')}.`,
  },
  'network/suspected-tcp-panic': {
    severity: 'warning',
    summary: 'Perhaps much TCP over a Thunderbolt cable makes this Mac panic.',
    cause:
      'The report of its last kernel panic names the driver of IP over Thunderbolt. Such panics were told of under load, with one hub that leads to two Macs on macOS 26.5, and over plain cables. A report does not say what was sent.',
    hint: 'Take hubs out of the cables, give placements over these cables `transport: rdma` or the office network, bring all Macs to one newer macOS, and send the report to Apple.',
  },
  'network/no-full-disk-access': {
    severity: 'warning',
    summary: 'A Mac lets no ssh session change its network preferences.',
    cause:
      'Remote Login was switched on without full disk access for remote users, and networksetup was refused when a run tried to set something. Addresses and the removal of the bridge hold all the same: the keeper puts them back within a minute. What only networksetup can set stays as it is.',
    hint: 'On the Mac: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users.',
  },
  'network/foreign-daemon': {
    severity: 'error',
    summary: 'A network daemon of somebody else sets the cables of this node.',
    cause:
      'Two that set the same addresses undo each other for ever: exo puts every cable back on DHCP each half an hour (exo issues 1158, 2007, 2067). Nothing of the network of the cables is changed until the file says who is to have it.',
    hint: 'Write `foreignDaemons` under `thunderbolt` in the file: stop (unloaded and disabled), remove (its plist goes as well), or adopt (it keeps the cables).',
  },
  'network/foreign-daemon-there': {
    severity: 'error',
    summary: 'A network daemon of somebody else is still there.',
    cause: 'The file wants it stopped or removed, and launchd has it loaded or will load it at the next start.',
    hint: prose`Take it away with ${meshwright('apply')}.`,
  },
  'network/cables-adopted': {
    severity: 'error',
    summary: 'A placement needs addresses that a network daemon of somebody else would undo.',
    cause:
      'The members of a placement meet at the fixed addresses of their cables. The file adopts the daemon of this node, so nobody sets them.',
    hint: 'Write `foreignDaemons: stop` or `remove` into the file, or take the node out of the placement.',
  },
  'network/foreign-daemon-adopted': {
    severity: 'notice',
    summary: 'A network daemon of somebody else keeps the cables of this node.',
    cause: 'The file adopts it: bridge, addresses and service order of this node are left to it.',
    hint: 'Expect addresses to change by themselves; placements with their own addresses need stop or remove.',
  },
} as const satisfies Record<string, CodeEntry>;
