import { type Ailments, type MacState, macNamed, peerAt, type SimulatedFleet, withMac } from '../model/fleet.ts';
import { withBridgeInterface } from '../model/network.ts';
import { isRdmaLive } from '../model/rdma.ts';
import { aims, defineFault, defineMacFault, type Fault } from './fault.ts';

const ailing = (mac: MacState, ailments: Partial<Ailments>): MacState => ({
  ...mac,
  ailments: { ...mac.ailments, ...ailments },
});

/** A fault that is one ailment of a Mac; `already` is said where the Mac has it. */
const defineAilment = <K extends keyof Ailments>(
  summary: string,
  [key, value]: readonly [key: K, value: Ailments[K]],
  already: string,
  shown?: (mac: MacState) => unknown,
): Fault =>
  defineMacFault(summary, (mac) => (mac.ailments[key] === value ? already : ailing(mac, { [key]: value })), shown);

const withDeadPort = (fleet: SimulatedFleet, node: string, receptacle: number): SimulatedFleet =>
  withMac(fleet, node, (mac) =>
    ailing(mac, { deadReceptacles: [...new Set([...mac.ailments.deadReceptacles, receptacle])].sort() }),
  );

/** What a model never fits into, and what a lease and a record still do. */
const roomLeftBytes = 65_536;

/** What is wrong with the system of a Mac beyond its settings. */
export const ailmentFaults = {
  /** What the kernel does after long idling or a hot replug (exo issue 1973); only a start of the Mac ends it. */
  'rdma-hang': defineAilment(
    'its cables carry nothing though every port says active, until a reboot',
    ['isRdmaHung', true],
    'its RDMA hangs already',
  ),

  /** A link that nobody used for long: both ends have to start anew before anything comes through (exo issue 1973). */
  'idle-dead-port': defineFault(
    'a cable carries nothing though both ports say active, until both Macs reboot',
    aims.cable,
    (fleet, end) => {
      const peer = peerAt(fleet, end);
      if (peer === undefined) return 'nobody is at the other end of its cable';
      const isDead = macNamed(fleet, end.node)?.ailments.deadReceptacles.includes(end.receptacle) === true;
      if (isDead) return 'its port is dead already';
      return withDeadPort(withDeadPort(fleet, end.node, end.receptacle), peer.mac.name, peer.receptacle.number);
    },
  ),

  /** What many failed starts leave behind: `ibv_devinfo` says what it always says, and no program gets a domain. */
  'pd-leak': defineAilment(
    'no protection domain is left, so no program can open an RDMA device, until a reboot',
    ['lacksDomains', true],
    'it has none left already',
  ),

  /** A program of somebody else, such as a benchmark that was left running. */
  'rdma-held': defineMacFault(
    'a program that is not ours holds every RDMA device, until it is ended or the Mac reboots',
    (mac) => {
      if (mac.ailments.isRdmaHeld) return 'its devices are held already';
      return isRdmaLive(mac) ? ailing(mac, { isRdmaHeld: true }) : 'it has no RDMA device';
    },
  ),

  /** ibv_dealloc_pd holds a lock that the end of a device needs (SQCU/mesh): whoever opens one now waits, deaf to KILL. */
  'verbs-hang': defineMacFault(
    'a program hangs in the RDMA driver, and every verbs tool behind it, until a reboot',
    (mac) => {
      if (mac.ailments.isVerbsHung) return 'its driver hangs already';
      return isRdmaLive(mac) ? ailing(mac, { isVerbsHung: true }) : 'it has no RDMA device';
    },
  ),

  /** What the driver of the GPU or of RDMA holds for a process outlives it where KILL has ended it. */
  'wired-leak': defineAilment(
    'a rank that has to be killed leaves a quarter of the memory wired, until a reboot',
    ['leaksWired', true],
    'it leaks already',
  ),

  /** macOS makes the bridge anew, at once and whenever the Mac starts. */
  'bridge-rebuilt': defineMacFault('macOS builds the Thunderbolt Bridge anew, now and at every start', (mac) =>
    ailing(withBridgeInterface(mac), { isBridgeRebuilt: true }),
  ),

  /** The disk has no room for a model any more. */
  'disk-full': defineMacFault('the disk is full: 64 KiB still fit', (mac) =>
    ailing(mac, { diskRoomBytes: roomLeftBytes }),
  ),

  /** Something holds the shutdown up until it is killed. */
  'slow-shutdown': defineAilment(
    'a shutdown takes four minutes longer, since something does not stop',
    ['isSlowToStop', true],
    'it is slow to stop already',
  ),

  /** A Mac that went down and waits for somebody to press its button. */
  'no-return': defineAilment(
    'the Mac stays off after a reboot, until its button is pressed: sim power-on',
    ['isStayingOff', true],
    'it stays off already',
  ),

  /** "Allow full disk access for remote users" is off in Sharing. */
  'no-full-disk-access': defineAilment(
    'SSH sessions lack Full Disk Access: networksetup changes nothing',
    ['hasFullDiskAccess', false],
    'it is lacking already',
  ),

  /** A kernel panic. It is over when the Mac is there again; its report stays. */
  crash: defineMacFault(
    'the kernel panics: the Mac goes down at once, and starts again by itself',
    (mac) => (mac.ailments.panic === undefined ? ailing(mac, { panic: 'crash' }) : 'it goes down already'),
    ({ ailments }) => ailments.panic,
  ),

  /** Somebody pulled the plug, or the house has no current. It comes back with the current where pmset says so. */
  'power-cut': defineAilment(
    'the current is gone; with it back the Mac starts by itself if autorestart is on, else by its button',
    ['lacksCurrent', true],
    'it has no current already',
    ({ ailments }) => ailments.lacksCurrent,
  ),

  /** What was told of TCP under load over Thunderbolt: panics in the driver of IP over Thunderbolt. */
  'tcp-load-panic': defineAilment(
    'the kernel panics as soon as ranks send TCP over its cables',
    ['panicsUnderTcp', true],
    'it does so already',
    ({ ailments }) => ailments.panicsUnderTcp,
  ),
};
