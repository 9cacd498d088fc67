import { blank, its, meshwright, withTail } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes of the RDMA ladder: the first rung that is missing is the cause, and the only one that is told. */
export const rdmaCodes = {
  'rdma/no-thunderbolt-5': {
    severity: 'error',
    summary: 'This Mac cannot do RDMA: its receptacles are older than Thunderbolt 5.',
    cause:
      'RDMA over Thunderbolt needs Thunderbolt 5. On Thunderbolt 4 `rdma_ctl status` can say enabled and there is still never a device (mlx issue 3777). If a device exists, it comes from a modified driver (the RDMAEnabler kext, seen on macOS 27.2 with reduced security). meshwright does not support that.',
    hint: 'Use TCP on the links of this node, or a Mac with Thunderbolt 5 in its place.',
  },
  'rdma/macos-too-old': {
    severity: 'error',
    summary: 'This macOS has no RDMA over Thunderbolt.',
    cause: 'RDMA over Thunderbolt came with macOS 26.2 (Apple TN3205).',
    hint: 'Update macOS to 26.2 or later.',
  },
  'rdma/disabled': {
    severity: 'error',
    summary: 'RDMA over Thunderbolt is disabled on this node.',
    cause:
      '`rdma_ctl status` prints disabled. Only a person can enable it: in Recovery (Apple TN3205), from macOS 27 on also in System Settings. No command over SSH is known to.',
    hint: 'Shut down, hold the power button until "Loading startup options", Options > Utilities > Terminal: rdma_ctl enable, then restart.',
    hands: true,
  },
  'rdma/restart-pending': {
    severity: 'error',
    summary: 'RDMA is switched on, but this Mac has not restarted since.',
    cause:
      'From macOS 27 on the switch is in System Settings, too. The NVRAM variable `rdma-enable` is 1, and `ibv_devices` lists nothing: the switch takes effect at the next start. It never does on a Mac with Thunderbolt 4 (mlx issue 3777).',
    hint: prose`Restart this node: ${meshwright('reboot', its.node)}`,
  },
  'rdma/off-after-restart': {
    severity: 'warning',
    summary: 'RDMA works now, and ends with the next restart of this Mac.',
    cause:
      'The NVRAM variable `rdma-enable` is off, and the RDMA devices are still there: the switch takes effect at a restart.',
    hint: 'Switch RDMA over Thunderbolt on in System Settings > Privacy & Security > Developer Tools.',
  },
  'rdma/no-device': {
    severity: 'error',
    summary: 'RDMA is on, but an RDMA device is missing.',
    cause: '`ibv_devices` does not list `rdma_` + the interface of the receptacle.',
    hint: 'Restart this node; if the device is still missing, the hardware cannot do it (mlx issue 3777).',
  },
  'rdma/port-down': {
    severity: 'error',
    summary: 'An RDMA port is down although the cable is there.',
    cause:
      'A port becomes active when a cable is in and RDMA is enabled at the far end (Apple TN3205). When both are so, the state in the kernel is stale, as after re-plugging.',
    hint: 'Restart both Macs of the link.',
  },
  'rdma/port-not-active': {
    severity: 'error',
    summary: 'An RDMA port is neither active nor down.',
    cause:
      'Only PORT_ACTIVE carries RDMA. Another state, such as INIT or ARMED, is on the way there, or is stuck after re-plugging.',
    hint: 'Look again in a minute; if it stays so, restart both Macs of the link.',
  },
  'rdma/interface-down': {
    severity: 'error',
    summary: 'The interface of a receptacle that should do RDMA is down.',
    cause:
      'An interface that is not up has no address, and its RDMA device no GID for one: its service is switched off.',
    hint: 'Switch its network service on in System Settings > Network.',
  },
  'rdma/bridged': {
    severity: 'error',
    summary: 'A receptacle that should do RDMA is in the Thunderbolt Bridge.',
    cause:
      'A bridged receptacle has no address of its own, so that its device lacks the GID that MLX needs (errno 96 or 22).',
    hint: 'Say thunderbolt.bridge: remove in the file.',
  },
  'rdma/no-address': {
    severity: 'error',
    summary: 'A receptacle that should do RDMA has no IPv4 address.',
    cause:
      'Only an interface with an IPv4 address of its own gets the IPv4-mapped GID that MLX needs. A self-assigned one can take minutes after boot and may change later.',
    hint: prose`Have it set: ${meshwright('apply', its.node)}. Without a pool in the file: sudo networksetup -setmanual "Thunderbolt N" ADDRESS 255.255.255.252`,
  },
  'rdma/other-device': {
    severity: 'notice',
    summary: 'This Mac has RDMA devices that belong to no Thunderbolt receptacle.',
    cause:
      '`ibv_devices` lists a device that is not called `rdma_en` and a number, as the driver of a network card makes one. It is no part of the mesh: nothing counts it, and no rank is told to use it.',
    hint: 'Nothing to do. A program that takes the first RDMA device it finds may take this one.',
  },
  'rdma/no-gid': {
    severity: 'error',
    summary: 'An RDMA device lacks the GID of its IPv4 address.',
    cause:
      'The interface has an IPv4 address and its device has no GID ::ffff:a.b.c.d for it. MLX dies with "RTR errno 22", newer ones name the cause (mlx pull request 4191).',
    hint: 'Look again in a minute; if it stays so, restart this node.',
  },
  'rdma/held': {
    severity: 'warning',
    summary: 'A process that is no rank of a running placement has RDMA devices open.',
    cause:
      '`ioreg` names each process that has opened a device (`IOUserClientCreator`), and `ps` shows that it lives. Its protection domains and queue pairs return when it ends, so a restart of the Mac is not needed. While a verbs tool runs, no second one is started.',
    hint: prose`End the process if it is not needed: ${withTail(meshwright('exec', its.node), 'env', 'kill', blank('PID'))}`,
  },
  'rdma/left-in-kernel': {
    severity: 'warning',
    summary: 'The kernel holds RDMA objects for no process.',
    cause:
      '`ioclasscount` counts protection domains or queue pairs that no living process has open, or `ioreg` shows them inactive. They were left behind by a process that ended in the middle of its work. Only a restart frees them.',
    hint: prose`Restart this Mac before its devices have none left: ${meshwright('reboot', its.node)}`,
  },
  'rdma/process-stuck': {
    severity: 'error',
    summary: 'A process hangs in the RDMA driver.',
    cause:
      'A verbs tool, or a process whose RDMA objects are inactive, is in uninterruptible wait (`U` in `ps`): no signal ends it, and every verbs tool that is started now would hang behind it (SQCU/mesh, RDMA-RULES.md).',
    hint: prose`Restart this Mac: ${meshwright('reboot', its.node)}`,
  },
} as const satisfies Record<string, CodeEntry>;

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
