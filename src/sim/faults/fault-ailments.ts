import {
  ailing,
  type MacState,
  macNamed,
  peerAt,
  type SimulatedFleet,
  withConnection,
  withMac,
} from '../model/fleet.ts';
import { withBridgeInterface } from '../model/network.ts';
import { isRdmaLive } from '../model/rdma.ts';
import { aims, defineFault, defineMacFault, type Fault } from './fault.ts';

/** Defines a fault that sets one condition of a Mac; `already` is the refusal if the Mac already has this condition. */
const defineAilment = <K extends keyof MacState['ailments']>(
  summary: string,
  [key, value]: readonly [key: K, value: MacState['ailments'][K]],
  already: string,
  shown?: (mac: MacState) => unknown,
): Fault =>
  defineMacFault(summary, (mac) => (mac.ailments[key] === value ? already : ailing(mac, { [key]: value })), shown);

/** Defines a fault of the next macOS update, which shows nothing before that. */
const defineUpdate = (summary: string, update: NonNullable<MacState['ailments']['update']>): Fault =>
  defineAilment(summary, ['update', update], 'the next update already ends so', ({ ailments }) => ailments.update);

/** The same for conditions of the RDMA driver, which only runs if the Mac has RDMA devices. */
const defineDriverState = (summary: string, key: 'isRdmaHeld' | 'isVerbsHung', already: string): Fault =>
  defineMacFault(summary, (mac) => {
    if (mac.ailments[key]) return already;
    return isRdmaLive(mac) ? ailing(mac, { [key]: true }) : 'the Mac has no RDMA device';
  });

const withDeadPort = (fleet: SimulatedFleet, node: string, receptacle: number): SimulatedFleet =>
  withMac(fleet, node, (mac) =>
    ailing(mac, { deadReceptacles: [...new Set([...mac.ailments.deadReceptacles, receptacle])].sort() }),
  );

/** Too little for any model, but enough for a lease and a record. */
const roomLeftBytes = 65_536;

export const ailmentFaults = {
  /** The kernel's state after a long idle time or a hot replug (exo issue 1973); only a reboot clears it. */
  'rdma-hang': defineAilment(
    'its cables carry nothing although every port is active, until a reboot',
    ['isRdmaHung', true],
    'RDMA is already hung',
  ),

  /** A link that was idle for a long time: both Macs must reboot before it works again (exo issue 1973). */
  'idle-dead-port': defineFault(
    'a cable carries nothing although both ports are active, until both Macs reboot',
    aims.cable,
    (fleet, end) => {
      const peer = peerAt(fleet, end);
      if (peer === undefined) return 'no Mac is at the other end of the cable';
      if (macNamed(fleet, end.node)?.ailments.deadReceptacles.includes(end.receptacle))
        return 'the port is already dead';
      return withDeadPort(withDeadPort(fleet, end.node, end.receptacle), peer.mac.name, peer.receptacle.number);
    },
  ),

  /** After many failed starts, the output of `ibv_devinfo` is unchanged, but no program gets a protection domain. */
  'pd-leak': defineAilment(
    'all protection domains are used up, so no program can open an RDMA device, until a reboot',
    ['lacksDomains', true],
    'no protection domains are left',
  ),

  /**
   * RTR EBUSY with the kernel log "receive-queue resource shortage" (SQCU/mesh). Only llama.cpp then uses TCP; mlx, exo
   * and the reference runtime of `command` fail to start.
   */
  'falls-back': defineAilment(
    'no new RDMA connection succeeds, until a reboot: llama.cpp goes on over TCP without an error, mlx and exo do not start',
    ['refusesQueuePairs', true],
    'its RDMA connections already fail',
  ),

  /** A foreign program, for example a benchmark that is still running. */
  'rdma-held': defineDriverState(
    'a foreign program holds every RDMA device, until it is stopped or the Mac reboots',
    'isRdmaHeld',
    'its devices are already held',
  ),

  /** ibv_dealloc_pd holds a lock (SQCU/mesh): programs that open a device hang and ignore KILL. */
  'verbs-hang': defineDriverState(
    'a program hangs in the RDMA driver and blocks every verbs tool, until a reboot',
    'isVerbsHung',
    'its driver is already hung',
  ),

  /** After KILL, memory that the GPU or RDMA driver has allocated for the process remains wired. */
  'wired-leak': defineAilment(
    'a killed rank leaves a quarter of the memory wired, until a reboot',
    ['leaksWired', true],
    'the Mac already leaks memory',
  ),

  /** Programs get EHOSTUNREACH at once, while ssh and curl reach the same Mac. @see Apple TN3179, mlx issue 3755 */
  'local-network-denied': defineAilment(
    'Local Network privacy denies ranks that start on it every connection to another Mac',
    ['isLanDenied', true],
    'its ranks are already denied',
  ),

  /** macOS kills a process that takes too much memory, and the memory stays wired: 233 starts in a row (omlx issue 2184). */
  'restart-storm': defineMacFault(
    'each rank is killed right after its start and leaves a quarter of the memory wired, until a reboot',
    (mac) => {
      if (mac.ailments.killsRanks) return 'its ranks are already being killed';
      return ailing(mac, { killsRanks: true, leaksWired: true });
    },
    ({ ailments }) => ailments.killsRanks,
  ),

  /** Stale swap of a program that took too much memory. A load on top of it ended in panics (dryvist/nix-ai INC-17075). */
  'swap-full': defineAilment(
    '12 GB of swap is in use, until a reboot',
    ['swapUsedMegabytes', 12_288],
    'its swap is already in use',
  ),

  'bridge-rebuilt': defineMacFault('macOS recreates the Thunderbolt Bridge, now and at every boot', (mac) =>
    ailing(withBridgeInterface(mac), { isBridgeRebuilt: true }),
  ),

  'disk-full': defineMacFault('the disk is full except for 64 KiB', (mac) =>
    ailing(mac, { diskRoomBytes: roomLeftBytes }),
  ),

  'slow-shutdown': defineAilment(
    'a shutdown takes four minutes longer, because a process does not stop',
    ['isSlowToStop', true],
    'its shutdown is already slow',
  ),

  'no-return': defineAilment(
    'after a reboot, the Mac stays off until its button is pressed (sim power-on)',
    ['isStayingOff', true],
    'the Mac already has this fault',
  ),

  /** "Allow full disk access for remote users" is off in Sharing. */
  'no-full-disk-access': defineAilment(
    'SSH sessions lack Full Disk Access, so networksetup changes nothing',
    ['hasFullDiskAccess', false],
    'Full Disk Access is already off',
  ),

  /** A rank that a debugger or `kill -STOP` holds: its connections stay open, and `kill -CONT` lets it go on. */
  'rank-stopped': defineAilment(
    'the ranks that run on it are stopped (SIGSTOP): they keep their connections, but do nothing',
    ['rankSignal', 'SIGSTOP'],
    'its ranks are already being stopped',
    ({ ailments }) => ailments.rankSignal,
  ),

  'rank-killed': defineAilment(
    'the ranks that run on it are killed (SIGKILL)',
    ['rankSignal', 'SIGKILL'],
    'its ranks are already being killed',
    ({ ailments }) => ailments.rankSignal,
  ),

  /** Only the build proves an update: the version alone is right here. */
  'build-differs': defineUpdate('the next macOS update installs another build of the version', 'differs'),

  'update-fails': defineUpdate('after the next macOS update, the Mac restarts with the macOS that it had', 'fails'),

  /** What people check after each update. @see docs/unverified.md */
  'update-resets': defineUpdate(
    'the next macOS update turns RDMA off, recreates the Thunderbolt Bridge and turns automatic updates on',
    'resets',
  ),

  'update-stuck': defineUpdate('the next macOS update never ends, and the Mac does not restart', 'stuck'),

  /** A kernel panic. The fault ends when the Mac is up again, but the panic report remains. */
  crash: defineMacFault(
    'the kernel panics: the Mac goes down immediately and restarts by itself',
    (mac) => (mac.ailments.panic === undefined ? ailing(mac, { panic: 'crash' }) : 'the Mac is already going down'),
    ({ ailments }) => ailments.panic,
  ),

  /** A power failure. When power returns, the Mac starts by itself if `autorestart` is on. */
  'power-cut': defineMacFault(
    'power is lost; when it returns, the Mac starts if autorestart is on, otherwise after its button is pressed',
    (mac) => {
      if (mac.ailments.lacksCurrent) return 'power is already lost';
      // The key of an authenticated restart is only in memory.
      const isAuthorized = mac.connection.filevault === 'authorized';
      return ailing(withConnection(mac, isAuthorized ? { filevault: 'unlocked' } : {}), { lacksCurrent: true });
    },
    ({ ailments }) => ailments.lacksCurrent,
  ),

  /** Panics in the driver for IP over Thunderbolt, which users reported under high TCP load. */
  'tcp-load-panic': defineAilment(
    'the kernel panics as soon as ranks send TCP over its cables',
    ['panicsUnderTcp', true],
    'the Mac already has this fault',
    ({ ailments }) => ailments.panicsUnderTcp,
  ),
};
