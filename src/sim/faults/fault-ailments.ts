import { type Ailments, type MacState, macNamed, peerAt, type SimulatedFleet, withMac } from '../model/fleet.ts';
import { withBridgeInterface } from '../model/interfaces.ts';
import { isRdmaLive } from '../model/rdma.ts';
import { aimAtCable, aimAtNode, defineFault, fault, macFault } from './fault.ts';

const ailing = (mac: MacState, ailments: Partial<Ailments>): MacState => ({
  ...mac,
  ailments: { ...mac.ailments, ...ailments },
});

/** What the kernel does after long idling or a hot replug (exo issue 1973); only a start of the Mac ends it. */
export const rdmaHang = defineFault(
  'rdma-hang',
  macFault('its cables carry nothing though every port says active, until a reboot', aimAtNode, (mac) =>
    mac.ailments.isRdmaHung ? 'its RDMA hangs already' : ailing(mac, { isRdmaHung: true }),
  ),
);

const withDeadPort = (fleet: SimulatedFleet, node: string, receptacle: number): SimulatedFleet =>
  withMac(fleet, node, (mac) =>
    ailing(mac, { deadReceptacles: [...new Set([...mac.ailments.deadReceptacles, receptacle])].sort() }),
  );

/** A link that nobody used for long: both ends have to start anew before anything comes through (exo issue 1973). */
export const idleDeadPort = defineFault(
  'idle-dead-port',
  fault({
    summary: 'a cable carries nothing though both ports say active, until both Macs reboot',
    targets: 'NODE:RECEPTACLE',
    aim: aimAtCable,
    change: (fleet, end) => {
      const peer = peerAt(fleet, end);
      if (peer === undefined) return 'nobody is at the other end of its cable';
      const isDead = macNamed(fleet, end.node)?.ailments.deadReceptacles.includes(end.receptacle) === true;
      if (isDead) return 'its port is dead already';
      return withDeadPort(withDeadPort(fleet, end.node, end.receptacle), peer.mac.name, peer.receptacle.number);
    },
  }),
);

/** What many failed starts leave behind: `ibv_devinfo` says what it always says, and no program gets a domain. */
export const pdLeak = defineFault(
  'pd-leak',
  macFault('no protection domain is left, so no program can open an RDMA device, until a reboot', aimAtNode, (mac) =>
    mac.ailments.lacksDomains ? 'it has none left already' : ailing(mac, { lacksDomains: true }),
  ),
);

/** A program of somebody else, such as a benchmark that was left running. */
export const rdmaHeld = defineFault(
  'rdma-held',
  macFault(
    'a program that is not ours holds every RDMA device, until it is ended or the Mac reboots',
    aimAtNode,
    (mac) => {
      if (mac.ailments.isRdmaHeld) return 'its devices are held already';
      return isRdmaLive(mac) ? ailing(mac, { isRdmaHeld: true }) : 'it has no RDMA device';
    },
  ),
);

/** ibv_dealloc_pd holds a lock that the end of a device needs (SQCU/mesh): whoever opens one now waits, deaf to KILL. */
export const verbsHang = defineFault(
  'verbs-hang',
  macFault('a program hangs in the RDMA driver, and every verbs tool behind it, until a reboot', aimAtNode, (mac) => {
    if (mac.ailments.isVerbsHung) return 'its driver hangs already';
    return isRdmaLive(mac) ? ailing(mac, { isVerbsHung: true }) : 'it has no RDMA device';
  }),
);

/** What the driver of the GPU or of RDMA holds for a process outlives it where KILL has ended it. */
export const wiredLeak = defineFault(
  'wired-leak',
  macFault('a rank that has to be killed leaves a quarter of the memory wired, until a reboot', aimAtNode, (mac) =>
    mac.ailments.leaksWired ? 'it leaks already' : ailing(mac, { leaksWired: true }),
  ),
);

/** macOS makes the bridge anew, at once and whenever the Mac starts. */
export const bridgeRebuilt = defineFault(
  'bridge-rebuilt',
  macFault('macOS builds the Thunderbolt Bridge anew, now and at every start', aimAtNode, (mac) =>
    ailing(withBridgeInterface(mac), { isBridgeRebuilt: true }),
  ),
);

/** What a model never fits into, and what a lease and a record still do. */
const roomLeftBytes = 65_536;

/** The disk has no room for a model any more. */
export const diskFull = defineFault(
  'disk-full',
  macFault('the disk is full: 64 KiB still fit', aimAtNode, (mac) => ailing(mac, { diskRoomBytes: roomLeftBytes })),
);

/** Something holds the shutdown up until it is killed. */
export const slowShutdown = defineFault(
  'slow-shutdown',
  macFault('a shutdown takes four minutes longer, since something does not stop', aimAtNode, (mac) =>
    mac.ailments.isSlowToStop ? 'it is slow to stop already' : ailing(mac, { isSlowToStop: true }),
  ),
);

/** A Mac that went down and waits for somebody to press its button. */
export const noReturn = defineFault(
  'no-return',
  macFault('the Mac stays off after a reboot, until its button is pressed: sim power-on', aimAtNode, (mac) =>
    mac.ailments.isStayingOff ? 'it stays off already' : ailing(mac, { isStayingOff: true }),
  ),
);

/** "Allow full disk access for remote users" is off in Sharing. */
export const noFullDiskAccess = defineFault(
  'no-full-disk-access',
  macFault('SSH sessions lack Full Disk Access: networksetup changes nothing', aimAtNode, (mac) =>
    mac.ailments.hasFullDiskAccess ? ailing(mac, { hasFullDiskAccess: false }) : 'it is lacking already',
  ),
);
