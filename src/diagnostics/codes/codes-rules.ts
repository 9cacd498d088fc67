import type { CodeEntry } from '../code-entry.ts';

/** Codes about the meaning of a well-formed cluster file. */
export const ruleCodes = {
  'topology/unknown-node': {
    summary: 'This node is not in the file.',
    cause: 'A link, `thunderbolt.avoid` or `downloads.via` names a node that is not under `nodes`.',
    hint: 'Correct the name, or add the node under `nodes`.',
  },
  'topology/receptacle-used-twice': {
    summary: 'Two links use the same receptacle.',
    cause: 'A receptacle takes only one cable.',
    hint: 'Use another receptacle for one of the two links.',
  },
  'topology/no-such-receptacle': {
    summary: 'This Mac has no such receptacle.',
    cause: 'The declared Mac model has fewer Thunderbolt receptacles. macOS numbers receptacles from 1.',
    hint: 'Use a receptacle that the Mac has, or correct `hardware.model`.',
  },
  'topology/link-to-itself': {
    summary: 'A link connects a node to itself.',
    cause: 'Both ends of the link are on the same node.',
    hint: 'Correct one end of the link.',
  },
  'topology/duplicate-link': {
    summary: 'The same link is declared twice.',
    cause: 'Both lines name the same two receptacles. The order of the ends does not matter.',
    hint: 'Remove one of the two lines.',
  },
  'topology/avoided-receptacle': {
    severity: 'warning',
    summary: 'This receptacle should stay empty.',
    cause:
      'It is listed in `thunderbolt.avoid`, or it is receptacle 1 of a Mac Studio, next to Ethernet. The exo README says not to use that receptacle for RDMA.',
    hint: 'Move the cable to another receptacle.',
  },
  'topology/no-rdma': {
    severity: 'notice',
    summary: 'This Mac does not support RDMA.',
    cause:
      'RDMA over Thunderbolt needs Thunderbolt 5 at both ends of the cable (Apple TN3205). This Mac can still be a node for TCP. Once its model is declared, `thunderbolt.rdma: required` does not apply to it. RDMA placements refuse it.',
    hint: 'If TCP is enough on these links, there is nothing to do. For RDMA, use a Mac with Thunderbolt 5.',
  },
  'topology/unknown-model': {
    severity: 'notice',
    summary: "This model is not in meshwright's table of Macs.",
    cause:
      "The table (docs/macs.md) lists each model's receptacles and their positions, its Thunderbolt version and its memory bandwidth. For an unknown model, meshwright cannot check these in the file and asks the Mac later.",
    hint: 'Compare it with `sysctl hw.model` on the Mac. If the model is right, there is nothing to do; a newer version of meshwright may include it.',
  },
  'topology/duplicate-node': {
    summary: 'Two nodes have the same name.',
    cause: 'Upper and lower case count as the same, because node names become file names and host names.',
    hint: 'Rename one of the two nodes.',
  },
  'topology/duplicate-address': {
    summary: 'Two nodes have the same address.',
    cause: 'Both nodes have the same host and port, so meshwright would set up one Mac as two nodes.',
    hint: 'Correct the host of one of the two nodes.',
  },
  'topology/bad-address': {
    summary: 'This address is not valid.',
    cause: 'It looks like an IP address but is none, or has a short or octal form that programs read differently.',
    hint: 'Write an IPv4 address as four decimal numbers from 0 to 255, or use the standard IPv6 form.',
  },
  'topology/pool-not-a-network': {
    summary: 'The pool is not an IPv4 network for links.',
    cause: 'A pool is a first address with a prefix length, in a range that hosts may use.',
    hint: 'Write it like this: 10.77.0.0/24.',
  },
  'topology/pool-too-small': {
    summary: 'The pool has too few addresses for the links.',
    cause: 'Each link needs a separate /30 network, which has four addresses.',
    hint: 'Use a larger pool.',
  },
  'topology/pool-has-host': {
    summary: "A node's address is inside the links' address pool.",
    cause: 'A Mac would send traffic for that node over a cable with a network from the pool, and not reach it.',
    hint: 'Use a pool that no host, router or DHCP server uses, such as 10.77.0.0/24.',
  },
  'topology/pool-not-private': {
    severity: 'warning',
    summary: 'The pool is not a private network.',
    cause:
      'Addresses outside 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16 belong to hosts on the internet. The Macs cannot reach those hosts while the pool uses their addresses.',
    hint: 'Use a private network, such as 10.77.0.0/24.',
  },
  'node/wired-limit-too-large': {
    summary: 'The GPU memory limit leaves macOS too little memory.',
    cause: 'macOS needs about 8 GiB that the GPU does not use, or the Mac swaps, hangs or panics. It is for all nodes.',
    hint: 'Write `auto`, which fits every Mac, or a size that even the Mac with the least memory can spare.',
  },
  'node/login-under-filevault': {
    summary: 'Automatic login and FileVault are both required.',
    cause: 'FileVault asks for a password before macOS starts, so macOS offers no automatic login with it.',
    hint: 'Choose one: set `system.fileVault: disabled`, or remove `system.automaticLogin`.',
  },
  'node/same-account': {
    summary: 'Ranks, the API gateway or model transfers would share an account.',
    cause: "An attacker in one of them could reach the other: a rank could read the clients' requests and keys.",
    hint: 'Name a different account for each key. Or remove the keys: `apply` then creates one account for each.',
  },
  'node/account-logs-in': {
    summary: 'A rank, the API gateway or a model transfer would run as an account that can become root.',
    cause: 'The ssh user becomes root without a password, so an attacker in one of them would be root.',
    hint: 'Name an account that cannot become root. Or remove the key: `apply` then creates an account. If you accept the risk, write `login`.',
  },
  'outlet/unknown-pdu': {
    summary: 'This PDU is not in the file.',
    cause: "A node's `outlet` names a PDU that is not under `pdus`.",
    hint: 'Correct the name, or add the PDU under `pdus`.',
  },
  'outlet/used-twice': {
    summary: 'Two nodes have the same power outlet.',
    cause: 'Each Mac needs a separate outlet. Otherwise, a power cycle of one Mac would turn off both.',
    hint: 'Correct the outlet of one of the two nodes.',
  },
  'outlet/bad-command': {
    summary: "A PDU's command cannot switch a single outlet.",
    cause: 'Its first word is the program. At least one of the others must contain `{outlet}`, the outlet to switch.',
    hint: 'Write it like this: [pductl, "off", "{outlet}"].',
  },
  'outlet/unused-pdu': {
    severity: 'warning',
    summary: 'No node uses this PDU.',
    cause: 'Its commands never run, because no node names one of its outlets.',
    hint: 'Add `outlet: NAME/OUTLET` to the nodes that it powers, or remove the PDU.',
  },
  'upgrade/bad-command': {
    summary: 'The command that installs macOS updates cannot work.',
    cause:
      'The driver `command` needs a program whose arguments name the phase and the Mac. Other drivers take no command.',
    hint: 'Write it like this: updates: { driver: command, command: [./mdm-update, "{phase}", "{node}", "{build}"] }',
  },
  'version/not-text': {
    summary: 'A version is written as a number.',
    cause: 'Without quotes, YAML reads 26.10 as the number 26.1, which is a different macOS version.',
    hint: 'Put the version in quotes.',
  },
  'version/bad-range': {
    summary: 'This is not a version range.',
    cause: 'A range has comparisons that must all be true, such as `>=26.4 <28`. `||` separates alternatives.',
    hint: 'Write it like this: ">=26.4 <28".',
  },
  'version/outside-accept': {
    summary: 'The desired version is not an accepted version.',
    cause: '`macos.version` is outside `macos.accept`, so a node with the desired version would count as wrong.',
    hint: 'Widen `accept`, or correct `version`.',
  },
  'version/model-needs-newer': {
    severity: 'warning',
    summary: 'A Mac needs a newer macOS than the desired version.',
    cause: 'No Mac can start a macOS version older than the one its model shipped with (docs/macs.md).',
    hint: 'Raise `macos.version` and widen `macos.accept`. All Macs of an RDMA placement need the same version.',
  },
  'version/known-pair': {
    severity: 'warning',
    traits: ['in-file'],
    summary: 'These versions were reported to break together.',
    cause:
      'docs/known-pairs.md lists versions of macOS, exo, llama.cpp and the packages of mlx that break together, each with a public report. A combination that is not in the list is unknown, not good.',
    hint: 'The report names no version that works. Keep the versions that serve now, and try others with one placement first.',
    evidence: ['macos-version'],
  },
} as const satisfies Record<string, CodeEntry>;
