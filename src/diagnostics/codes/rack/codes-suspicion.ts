import type { CodeEntry } from '../../code-entry.ts';

/** What only traffic can show: told of placements that failed, and never of a look alone. */
export const suspicionCodes = {
  'rdma/suspected-idle-dead': {
    severity: 'error',
    summary: 'A cable is suspected to carry nothing, though its RDMA ports say that they are active.',
    cause:
      'A start or a token over RDMA failed in this boot session, and everything that can be looked at is fine on all links of the placement. Ports that idled for long, or whose cable was plugged in anew, stop working until both Macs restart (exo issue 1973); only traffic shows it.',
    hint: 'Start the placement anew; if that does not help, restart the Macs at both ends of the cable.',
  },
  'address/suspected-no-answer': {
    severity: 'error',
    summary: 'A cable is suspected to carry nothing, though it is there and has its addresses.',
    cause:
      'In this boot session a start over TCP failed because a rank got no answer from its peer at the address of a cable. The cables are as declared and have their addresses, and no other rank gave a reason. A port that stopped working looks like this; it works again after a restart of both Macs.',
    hint: 'Restart the Macs at both ends of the cable; if that does not help, replace the cable.',
  },
  'mesh/suspected-local-network': {
    severity: 'error',
    summary: 'macOS is suspected to keep a rank from the local network.',
    cause:
      'A rank was told at once that there is no route to its peer (errno 65), and everything that can be looked at is fine on all links of the placement; over TCP these are its cables and their addresses. Local Network privacy does that to programs of a session at the screen; daemons of launchd, root and what comes over ssh are exempt (Apple TN3179). Nobody can read or change it over ssh.',
    hint: 'On that Mac: System Settings > Privacy & Security > Local Network. Whatever was started there by an app or an agent needs its switch.',
  },
  'rdma/suspected-exhausted': {
    severity: 'error',
    summary: 'A Mac is suspected to have no protection domain or queue pair left.',
    cause:
      'The last start over RDMA in this boot session failed with the words of a device that has nothing left (a protection domain that could not be allocated, errno 12 or 16), and everything that can be looked at is fine. Failed starts can leave them behind in the kernel, and only a restart frees those; where the kernel holds none, the fault is elsewhere.',
    hint: 'Start the placement anew; if that does not help, restart the Mac.',
  },
} as const satisfies Record<string, CodeEntry>;
