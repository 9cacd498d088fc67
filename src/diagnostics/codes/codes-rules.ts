import type { CodeEntry } from '../code-entry.ts';

/** Codes about the meaning of a cluster file whose form is right. */
export const ruleCodes = {
  'topology/unknown-node': {
    summary: 'This node is not in the file.',
    cause: 'A link or a receptacle to avoid names a node that stands nowhere under `nodes`.',
    hint: 'Correct the name, or add the node under `nodes`.',
  },
  'topology/receptacle-used-twice': {
    summary: 'Two links use the same receptacle.',
    cause: 'One receptacle holds one cable.',
    hint: 'Give one of the two links another receptacle.',
  },
  'topology/no-such-receptacle': {
    summary: 'This Mac has no such receptacle.',
    cause: 'The model that the file declares has fewer Thunderbolt receptacles. macOS numbers them from 1.',
    hint: 'Use a receptacle that the Mac has, or correct `hardware.model`.',
  },
  'topology/link-to-itself': {
    summary: 'A link joins a node with itself.',
    cause: 'Both ends of the cable are at the same node; macOS would see its own bus.',
    hint: 'Correct one end of the link.',
  },
  'topology/duplicate-link': {
    summary: 'The same link stands twice.',
    cause: 'Both lines name the same two receptacles; the order of the ends has no meaning.',
    hint: 'Remove one of the two lines.',
  },
  'topology/avoided-receptacle': {
    severity: 'warning',
    summary: 'This receptacle is better left free.',
    cause:
      'It stands in `thunderbolt.avoid`, or it is receptacle 1 of a Mac Studio, next to Ethernet, which the README of exo says not to use for RDMA.',
    hint: 'Move the cable to another receptacle.',
  },
  'topology/no-rdma': {
    severity: 'notice',
    summary: 'This Mac can never have RDMA.',
    cause:
      'RDMA over Thunderbolt needs Thunderbolt 5 at both ends of the cable (Apple TN3205). This Mac can still be a node for TCP. `thunderbolt.rdma: required` ignores it once its model is declared. Placements over RDMA refuse it.',
    hint: 'Nothing to do if TCP is enough on these links. For RDMA, use a Mac with Thunderbolt 5.',
  },
  'topology/unknown-model': {
    severity: 'notice',
    summary: "This model is not in meshwright's table of Macs.",
    cause:
      'The table (docs/macs.md) says how many receptacles a model has, where they are, which Thunderbolt version they have and how fast its memory is. For an unknown model meshwright cannot check these in the file. It asks the Mac later.',
    hint: 'Compare with `sysctl hw.model` on the Mac. If the model is right, nothing needs to be done; a newer meshwright may know it.',
  },
  'topology/duplicate-node': {
    summary: 'Two nodes have the same name.',
    cause: 'Names that differ only in upper and lower case count as the same: they end up in names of files and hosts.',
    hint: 'Rename one of the two.',
  },
  'topology/duplicate-address': {
    summary: 'Two nodes have the same address.',
    cause: 'Both would be reached at the same host and port, so one Mac would be set up as two nodes.',
    hint: 'Correct the host of one of the two.',
  },
  'topology/bad-address': {
    summary: 'This is not a usable address.',
    cause: 'It looks like an IP address and is none, or a short or octal form that programs read differently.',
    hint: 'Write an IPv4 address as four plain numbers from 0 to 255, or IPv6 in its usual form.',
  },
  'topology/pool-not-a-network': {
    summary: 'The pool is not an IPv4 network for links.',
    cause: 'A pool is written as its first address and a prefix length, and lies in a range that hosts can use.',
    hint: 'Write it like 10.77.0.0/24.',
  },
  'topology/pool-too-small': {
    summary: 'The pool has too few addresses for the links.',
    cause: 'Every link gets a /30 network of its own, four addresses.',
    hint: 'Use a larger pool.',
  },
  'topology/pool-has-host': {
    summary: 'A node is reached at an address inside the pool of the links.',
    cause:
      'Each cable gets a network of the pool. A Mac would then send what is meant for that node over a cable, and could not be reached any more.',
    hint: 'Use a pool that no host, router or DHCP server uses, such as 10.77.0.0/24.',
  },
  'topology/pool-not-private': {
    severity: 'warning',
    summary: 'The pool is not a private network.',
    cause:
      'Addresses outside 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16 belong to somebody else, who is out of reach while they are used here.',
    hint: 'Use a private network, such as 10.77.0.0/24.',
  },
  'node/wired-limit-too-large': {
    summary: 'The GPU would be allowed more memory than a Mac can spare.',
    cause:
      'macOS needs about 8 GiB of the memory beside the GPU; a Mac whose GPU takes them swaps, hangs or panics. The limit holds for every node.',
    hint: 'Write `auto`, which fits every Mac, or a size that the smallest Mac can spare.',
  },
  'node/login-under-filevault': {
    summary: 'Automatic login is required where FileVault must be on.',
    cause: 'FileVault waits for a password before macOS starts, so macOS does not offer automatic login beside it.',
    hint: 'Choose one: system.fileVault: disabled, or no system.automaticLogin.',
  },
  'node/same-account': {
    summary: 'Ranks and gateway would share an account.',
    cause:
      'An attacker who breaks a rank could then read the requests and keys of clients. Ranks and gateway each need their own account.',
    hint: 'Name two accounts, such as _meshrank and _meshgate.',
  },
  'node/account-logs-in': {
    summary: 'A rank or the gateway would run as an account that can become root.',
    cause:
      'The ssh user becomes root without a password, so an attacker who breaks a rank or the gateway would be root on that Mac.',
    hint: 'Name _meshrank, _meshgate or an account that cannot become root. Write login if you accept the risk.',
  },
  'version/not-text': {
    summary: 'A version is written as a number.',
    cause: 'To YAML, 26.10 without quotes is the number 26.1, which is another macOS.',
    hint: 'Put the version in quotes.',
  },
  'version/bad-range': {
    summary: 'This is not a range of versions.',
    cause: 'A range is comparisons such as >=26.4 <28, which must all hold; || separates alternatives.',
    hint: 'Write it like ">=26.4 <28".',
  },
  'version/outside-accept': {
    summary: 'The wanted version is not an accepted one.',
    cause: '`macos.version` lies outside `macos.accept`, so a node with the wanted version would be wrong.',
    hint: 'Widen `accept`, or correct `version`.',
  },
  'version/model-needs-newer': {
    severity: 'warning',
    summary: 'A Mac of the file came with a newer macOS than the file asks for.',
    cause: 'No Mac starts with a macOS that is older than the one that its model came with (docs/macs.md).',
    hint: 'Raise `macos.version` and widen `macos.accept`. All Macs of a placement over RDMA need the same version.',
  },
} as const satisfies Record<string, CodeEntry>;
