import type { NodeName } from '../../model/node.ts';
import type { ConnectionState, MacState } from '../model/fleet.ts';
import { outOfBox, strangerLike } from '../simulate-fleet.ts';
import { aims, defineFault, defineMacFault } from './fault.ts';

const withConnection = (mac: MacState, connection: Partial<ConnectionState>): MacState => ({
  ...mac,
  connection: { ...mac.connection, ...connection },
});

/**
 * In the middle of an observation: key exchange and login take about 1,400 bytes with our own client, and the first
 * whole answer of a node ends after some 2,800. So no fact arrives, however the stream is cut into packets.
 */
const dropAfterBytes = 2_000;

/** Far beyond what an observation cannot resolve. */
const skewSeconds = 420;

/** What is wrong with the way to a Mac, and with what it lets us do. */
export const accessFaults = {
  /** The Mac lost its current, is back, and waits for a password before it starts macOS; its host starts it anew. */
  'filevault-locked': defineMacFault(
    'the Mac restarts, and waits at FileVault: its sshd only takes a password to unlock it',
    (mac) => ({ ...withConnection(mac, { filevault: 'preboot' }), isFileVaultOn: true }),
    ({ connection }) => connection.filevault,
  ),

  /** Every connection ends in the middle of what it carries. */
  'connection-drop': defineMacFault(`every connection is cut after ${dropAfterBytes} bytes of the node`, (mac) =>
    withConnection(mac, { dropAfterBytes }),
  ),

  /** The clock runs ahead. */
  'clock-skew': defineMacFault(`the clock is ${skewSeconds / 60} minutes ahead`, (mac) => ({
    ...mac,
    clockOffsetSeconds: mac.clockOffsetSeconds + skewSeconds,
  })),

  /** Somebody has switched the service off in Sharing, or its override with launchctl. */
  'remote-login-off': defineMacFault(
    'Remote Login is off: open connections go on, whoever connects next is refused',
    (mac) => (mac.connection.isRemoteLoginOff ? 'it is off already' : withConnection(mac, { isRemoteLoginOff: true })),
    ({ connection }) => connection.isRemoteLoginOff,
  ),

  /** The drop-in of sudoers is gone. */
  'sudo-denied': defineMacFault('sudo asks for a password', (mac) => ({ ...mac, sudo: 'needs-password' })),

  /** A Mac as it comes from the person who set it up: an account with a password, Remote Login on, and nothing of ours. */
  'not-enrolled': defineMacFault('no key of ours is accepted, and sudo asks for the password', (mac) => ({
    ...mac,
    hasKey: false,
    sudo: 'needs-password',
  })),

  /** A new Mac of the same model in the place of this one; its host gives it an empty disk, and starts it. */
  'mac-replaced': defineMacFault(
    'a new Mac is in its place: its own serial, UUIDs, host key and empty disk, and set up as it comes out of its box',
    (mac) => {
      const { serial, hardwareUuid, receptacles } = strangerLike(mac, 0);
      return withConnection(outOfBox({ ...mac, serial, hardwareUuid, receptacles }), { hostKey: 'other' });
    },
  ),

  /** Another key than before: a reinstalled Mac, or somebody in between. */
  'wrong-host-key': defineMacFault('another host key is shown', (mac) => withConnection(mac, { hostKey: 'other' })),

  /** An address that leads to the Mac of another node, as after a mixed-up name or lease. */
  'wrong-mac': defineFault(
    "the address leads to another node's Mac: its serial, UUIDs and cables",
    aims.twoNodes,
    (fleet, [mac, other]) => {
      if (mac.name === other.name) return 'it is its own Mac';
      const misdirected: Readonly<Record<string, NodeName>> = { ...fleet.misdirected, [mac.name]: other.name };
      return { ...fleet, misdirected };
    },
  ),
};
