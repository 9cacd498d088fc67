import type { NodeName } from '../../model/node.ts';
import { withConnection } from '../model/fleet.ts';
import { outOfBox, strangerLike } from '../simulate-fleet.ts';
import { aims, defineFault, defineMacFault } from './fault.ts';

/**
 * Cuts the connection in the middle of an observation. With our own client, key exchange and login take about 1,400
 * bytes, and the first complete answer ends after about 2,800 bytes. So no fact arrives, however the stream is split
 * into packets. A probe of the login ends after 2,003 bytes, which is far enough away, too.
 */
const dropAfterBytes = 1_900;

/** Far more than an observation's measurement error. */
const skewSeconds = 420;

export const accessFaults = {
  /** After a power loss the Mac waits for a password before it starts macOS; its host restarts it. */
  'filevault-locked': defineMacFault(
    'the Mac restarts and waits at FileVault: its sshd accepts only the password that unlocks it',
    (mac) => ({ ...withConnection(mac, { filevault: 'preboot' }), isFileVaultOn: true }),
    ({ connection }) => connection.filevault,
  ),

  'connection-drop': defineMacFault(`every connection breaks after ${dropAfterBytes} bytes from the node`, (mac) =>
    withConnection(mac, { dropAfterBytes }),
  ),

  'clock-skew': defineMacFault(`the clock is ${skewSeconds / 60} minutes ahead`, (mac) => ({
    ...mac,
    clockOffsetSeconds: mac.clockOffsetSeconds + skewSeconds,
  })),

  'remote-login-off': defineMacFault(
    'Remote Login is off: open connections continue, new ones are refused',
    (mac) =>
      mac.connection.isRemoteLoginOff ? 'Remote Login is already off' : withConnection(mac, { isRemoteLoginOff: true }),
    ({ connection }) => connection.isRemoteLoginOff,
  ),

  'sudo-denied': defineMacFault('sudo asks for a password', (mac) => ({ ...mac, sudo: 'needs-password' })),

  /** A Mac after its first setup: an account with a password, Remote Login on, and no trace of meshwright. */
  'not-enrolled': defineMacFault('the Mac accepts no key of this computer, and sudo asks for the password', (mac) => ({
    ...mac,
    hasKey: false,
    sudo: 'needs-password',
  })),

  /** A new Mac of the same model replaces this one; its host gives it an empty disk and starts it. */
  'mac-replaced': defineMacFault(
    'a new Mac takes its place, with a new serial number, UUIDs, host key, empty disk and factory settings',
    (mac) => {
      const { serial, hardwareUuid, receptacles } = strangerLike(mac, 0);
      return withConnection(outOfBox({ ...mac, serial, hardwareUuid, receptacles }), { hostKey: 'other' });
    },
  ),

  /** A new host key: the Mac was reinstalled, or the connection is intercepted. */
  'wrong-host-key': defineMacFault('the host key has changed', (mac) => withConnection(mac, { hostKey: 'other' })),

  /** The address leads to a different node's Mac, as after mixed-up names or DHCP leases. */
  'wrong-mac': defineFault(
    "the address leads to a different node's Mac, with its serial number, UUIDs and cables",
    aims.twoNodes,
    (fleet, [mac, other]) => {
      if (mac.name === other.name) return 'both nodes are the same Mac';
      const misdirected: Readonly<Record<string, NodeName>> = { ...fleet.misdirected, [mac.name]: other.name };
      return { ...fleet, misdirected };
    },
  ),
};
