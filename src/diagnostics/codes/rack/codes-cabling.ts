import type { CodeEntry } from '../../code-entry.ts';

/** Codes about cables. A cable is the pair of domain UUIDs at its ends, and both ends must agree on it. */
export const cablingCodes = {
  'cabling/missing': {
    severity: 'error',
    summary: 'A declared cable is not there.',
    cause: 'Neither end of the link sees a cable.',
    hint: 'Remove the Thunderbolt Bridge of both Macs; then put a Thunderbolt 5 cable between the two receptacles.',
    hands: true,
  },
  'cabling/elsewhere': {
    severity: 'error',
    summary: 'A declared cable is plugged in elsewhere.',
    cause:
      'An end of the link sees something else than the file says, by the domain UUIDs that the Macs show each other.',
    hint: 'Remove the Thunderbolt Bridge of both Macs; then move the cable, or correct the link in the file.',
    hands: true,
  },
  'cabling/slow': {
    severity: 'warning',
    summary: 'A cable is slower than 80 Gb/s.',
    cause:
      'A Thunderbolt 4 cable gives 40 Gb/s: it carries IP, but no RDMA (exo issue 1881: changing the cable was the cure). A Thunderbolt 4 Mac would too, and is told as rdma/no-thunderbolt-5 instead.',
    hint: 'Replace the cable by a Thunderbolt 5 one.',
    hands: true,
  },
  'cabling/speed-unknown': {
    severity: 'warning',
    summary: 'Nobody can say how fast a cable is.',
    cause:
      'Neither Mac prints the speed of the link. RDMA needs 80 Gb/s, and unknown is not taken for fast enough; it is told where the file requires RDMA.',
    hint: 'Look at the cable (a Thunderbolt 5 one is marked with a 5), and at both Macs in System Information > Thunderbolt.',
    hands: true,
  },
  'cabling/one-sided': {
    severity: 'warning',
    summary: 'A cable is seen from one end only.',
    cause: 'One Mac sees the other and is not seen by it: a hub stands between, or a cable was moved a moment ago.',
    hint: 'Look again; if it stays, plug the cable straight from one Mac into the other.',
    hands: true,
  },
  'cabling/through-hub': {
    severity: 'warning',
    summary: 'A link runs through a dock or hub.',
    cause: 'Two hubs in a chain carry no IP, and one hub between two Macs ended in kernel panics on macOS 26.5.',
    hint: 'Plug the cable straight from one Mac into the other.',
    hands: true,
  },
  'cabling/no-answer': {
    severity: 'warning',
    summary: 'Something is plugged in at both ends of a link, and nothing answers.',
    cause:
      'Both receptacles are connected and neither shows a Mac or a device, so that nobody can say where the cables go.',
    hint: 'Unplug the cable at one end, wait ten seconds, plug it in again.',
    hands: true,
  },
  'cabling/no-receptacle': {
    severity: 'error',
    summary: 'A link names a receptacle that the Mac does not have.',
    cause: 'macOS shows no Thunderbolt receptacle of that number.',
    hint: 'Correct the link in the file.',
  },
  'cabling/undeclared': {
    severity: 'warning',
    summary: 'There is a cable that the file does not declare.',
    cause: 'Both ends see each other, and no link of the file joins them.',
    hint: 'Take it out, or declare it.',
    hands: true,
  },
  'cabling/doubled': {
    severity: 'warning',
    summary: 'There is a second cable between two Macs that the file does not declare.',
    cause:
      'The file declares one cable between the two nodes, and they see each other over another one too. Two cables between bridged Macs are a ring, and tools that pick a device by its network mix them up.',
    hint: 'Take the second one out, or declare it.',
    hands: true,
  },
  'cabling/foreign-mac': {
    severity: 'warning',
    summary: 'A Mac that is not in the file is cabled to a node.',
    cause: 'Its domain UUID belongs to no node, and every node was looked at.',
    hint: 'Take the cable out, or add the Mac and the link to the file.',
    hands: true,
  },
  'cabling/unidentified-mac': {
    severity: 'notice',
    summary: 'A Mac is cabled to a node, and nobody can say which.',
    cause: 'Its domain UUID belongs to no node that was looked at; it may be one of the others.',
    hint: 'Make all nodes reachable, then look again.',
  },
} as const satisfies Record<string, CodeEntry>;
