import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import { lookupName } from '../../remote/address.ts';
import { type HostKeyTrust, trustFor } from '../../remote/keys/host-key-trust.ts';
import { seeWhetherLocked } from '../../remote/keys/password-login.ts';
import type { Target } from '../../remote/remote.ts';
import type { UseLimits, Way } from '../reach/with-remote.ts';
import { lookAtHostKey, type ShownKey } from './enroll-node.ts';

type OpenWay = Extract<Way, { kind: 'way' }>;

/** What answers at the address of a node that cannot be observed. */
export type AtDoor =
  /** A Mac that waits at FileVault, and the key that it shows. */
  { readonly kind: 'locked'; readonly shown: ShownKey } | { readonly kind: 'other' };

/** Looks who answers; nothing but the name of the account is sent. @throws FleetError with one `ssh/…` code */
export async function lookAtDoor(way: OpenWay, limits: UseLimits): Promise<AtDoor> {
  const shown = await lookAtHostKey(way, limits);
  const { deadlineMs, signal, onRemote } = limits;
  const asked = { deadlineMs, ...(signal ? { signal } : {}), ...(onRemote ? { onRemote } : {}) };
  const state = await seeWhetherLocked({ target: way.target, trust: trustIn(way.target, shown.key) }, asked);
  return state.kind === 'locked' ? { kind: 'locked', shown } : { kind: 'other' };
}

/** With these a node may be one that waits at FileVault with a key that nobody has seen yet. */
const doorCodes: ReadonlySet<string> = new Set([
  'ssh/locked-at-filevault',
  'ssh/host-key-changed',
  'ssh/host-key-unknown',
  'ssh/no-key',
  'ssh/key-encrypted',
  'ssh/key-unusable',
  'ssh/agent-declined',
  'ssh/agent-unreachable',
]);

/** The key that a node shows at FileVault, if it waits there; `problems` are why it was not reached. */
export async function keyIfLocked(
  way: Way,
  problems: readonly Diagnostic[],
  limits: UseLimits,
): Promise<ShownKey | undefined> {
  if (way.kind !== 'way' || !problems.some(({ code }) => doorCodes.has(code))) return undefined;
  try {
    const door = await lookAtDoor(way, limits);
    return door.kind === 'locked' ? door.shown : undefined;
  } catch (error) {
    if (error instanceof FleetError) return undefined;
    throw error;
  }
}

/** Trust in exactly this key. */
export const trustIn = (target: Target, key: HostKey): HostKeyTrust =>
  trustFor(target, {
    knownHosts: [],
    lock: { file: '', hostKeys: { [lookupName(target.host, target.port)]: [{ ...key, line: 1 }] } },
  });
