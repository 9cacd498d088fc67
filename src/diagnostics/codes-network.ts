import type { CodeEntry } from './code-entry.ts';

/** Codes about addresses and routes of the cables. */
export const networkCodes = {
  'address/pool-overlap': {
    severity: 'error',
    summary: 'The address pool of the links overlaps a network that nodes are in, or have a route to.',
    cause:
      'An interface other than a Thunderbolt receptacle has an address in thunderbolt.addressing.pool, or a route leads there: what was meant for that network would go over a cable.',
    hint: 'Choose another pool in the file.',
  },
  'address/by-dhcp': {
    severity: 'error',
    summary: 'A cable has an address that changes by itself.',
    cause:
      'The network service of the receptacle is on DHCP, as macOS sets it up and sometimes again. Nobody answers on a cable, so the Mac gives itself an address, minutes after a start and another one after each break of the link; the GID of RDMA goes with it (works for days, then errno 22).',
    hint: 'Give it a fixed address with meshwright apply.',
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
    summary: 'A Thunderbolt cable has an address that somebody at its far end gave out.',
    cause:
      'The network service of the receptacle is on DHCP and got an answer: on a cable between two Macs only Internet Sharing answers. The address can change or go with it.',
    hint: 'Switch Internet Sharing off at the far end: System Settings > General > Sharing.',
  },
  'network/service-order': {
    severity: 'warning',
    summary: 'A Thunderbolt service stands before the office network.',
    cause:
      'macOS tries its network services in their order: the first one with a router is the way to the rest of the world. As soon as a cable has one, by Internet Sharing or by mistake, everything goes over it.',
    hint: 'Put the services of the receptacles last with meshwright apply.',
  },
} as const satisfies Record<string, CodeEntry>;
