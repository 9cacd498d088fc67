import type { HostKey, HostKeyLock } from '../../model/cluster-lock.ts';
import { lookupName } from '../address.ts';
import { type HostKeyAlgorithm, orderHostKeyAlgorithms } from '../algorithms.ts';
import type { Target } from '../remote.ts';
import { parseHostKey } from './host-key.ts';
import { entriesFor, type KnownHostsEntry, type KnownHostsText } from './known-hosts.ts';

/** A key that is known for a node, with the line that says so. */
export interface KnownKey extends HostKey {
  readonly file: string;
  readonly line: number;
}

/** What is to be thought of the key that a node shows. Only `accepted` lets a connection go on. */
export type HostKeyVerdict =
  | { readonly kind: 'accepted'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'unknown'; readonly seen: HostKey }
  | { readonly kind: 'changed'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'revoked'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'certificate-authority'; readonly seen: HostKey; readonly known: KnownKey }
  /** It is the key that the Mac shows while it waits at FileVault: nothing but a password is for it. */
  | { readonly kind: 'preboot'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'unreadable' };

/** Where known host keys are looked up. */
export interface TrustSources {
  /** In the order in which ssh reads them: the user's files, then the machine's. */
  readonly knownHosts: readonly KnownHostsText[];
  readonly lock?: HostKeyLock;
}

const trusted: unique symbol = Symbol('host key trust');

/** Who a node must be. Made by {@link trustFor} alone, so that no connection exists without a verdict on its host key. */
export interface HostKeyTrust {
  readonly [trusted]: true;
  /** The name that was looked up: `host`, `[host]:port`, or ssh's HostKeyAlias. */
  readonly name: string;
  /** Whether a key is pinned that the node shows while it waits at FileVault. */
  readonly knowsPreboot: boolean;
  /** Host-key algorithms to offer, known types first. */
  readonly algorithms: readonly HostKeyAlgorithm[];
  /** Judges the key that the node shows, in its wire form. */
  readonly judge: (blob: Buffer) => HostKeyVerdict;
}

/** The name by which the keys of a target are looked up in known_hosts. */
export const trustName = (target: Pick<Target, 'host' | 'port' | 'hostKeyAlias'>): string =>
  target.hostKeyAlias ?? lookupName(target.host, target.port);

function pinsFor(
  target: Pick<Target, 'host' | 'port'>,
  lock: HostKeyLock | undefined,
  section: 'hostKeys' | 'prebootKeys',
): readonly KnownKey[] {
  const name = lookupName(target.host, target.port);
  const pins = lock?.[section];
  if (lock === undefined || pins === undefined || !Object.hasOwn(pins, name)) return [];
  return (pins[name] ?? []).map((pin) => ({ ...pin, file: lock.file }));
}

const nearest = (seen: HostKey, keys: readonly KnownKey[]): KnownKey | undefined =>
  keys.find((key) => key.type === seen.type) ?? keys[0];

/** Everything that is known about a node, before it has shown a key. */
interface Knowledge {
  /** Keys that may be accepted: pins, else plain lines of known_hosts. */
  readonly plain: readonly KnownKey[];
  /** Lines of known_hosts under the name of the node. */
  readonly entries: readonly KnownHostsEntry[];
  /** Lines under the bare host of a node at another port than 22, which count when its own name is unknown. */
  readonly bare: readonly KnownHostsEntry[];
  /** Pins of the sshd that waits at FileVault. */
  readonly preboot: readonly KnownKey[];
}

const isPlain = (entry: KnownHostsEntry): boolean => entry.marker === 'none';

function judgeKey(seen: HostKey, { plain, entries, bare, preboot }: Knowledge): HostKeyVerdict {
  const isSame = (key: HostKey): boolean => key.base64 === seen.base64;
  const revoked = [...entries, ...bare].find((entry) => entry.marker === 'revoked' && isSame(entry));
  if (revoked !== undefined) return { kind: 'revoked', seen, known: revoked };
  const accepted = plain.find(isSame);
  if (accepted !== undefined) return { kind: 'accepted', seen, known: accepted };
  const beforeUnlock = preboot.find(isSame);
  if (beforeUnlock !== undefined) return { kind: 'preboot', seen, known: beforeUnlock };
  const changed = nearest(seen, plain);
  if (changed !== undefined) return { kind: 'changed', seen, known: changed };
  const acceptedBare = bare.filter(isPlain).find(isSame);
  if (acceptedBare !== undefined) return { kind: 'accepted', seen, known: acceptedBare };
  const authority = entries.find((entry) => entry.marker === 'cert-authority');
  return authority === undefined
    ? { kind: 'unknown', seen }
    : { kind: 'certificate-authority', seen, known: authority };
}

/** Types of which the first plain key is not revoked: the ones that OpenSSH asks a node for first. */
function knownTypes(knowledge: Knowledge): readonly string[] {
  const { plain } = knowledge;
  const firsts = plain.filter((key, index) => plain.findIndex((other) => other.type === key.type) === index);
  const isGood = (key: KnownKey): boolean => judgeKey(key, knowledge).kind === 'accepted';
  return firsts.filter(isGood).map((key) => key.type);
}

/**
 * Settles who a node must be. Pins of `cluster.lock` for its address (`host` or `[host]:port`) win over known_hosts;
 * a `@revoked` line wins over both. Otherwise the verdict is OpenSSH's own, which for a port other than 22 also looks
 * under the bare host when `[host]:port` is unknown.
 */
export function trustFor(target: Pick<Target, 'host' | 'port' | 'hostKeyAlias'>, sources: TrustSources): HostKeyTrust {
  const name = trustName(target);
  const bareName = lookupName(target.host, 22);
  const entries = entriesFor(name, sources.knownHosts);
  const pins = pinsFor(target, sources.lock, 'hostKeys');
  const hasBare = pins.length === 0 && target.hostKeyAlias === undefined && bareName !== name;
  const knowledge = {
    plain: pins.length > 0 ? pins : entries.filter(isPlain),
    entries,
    bare: hasBare ? entriesFor(bareName, sources.knownHosts) : [],
    preboot: pinsFor(target, sources.lock, 'prebootKeys'),
  };
  return {
    [trusted]: true,
    name,
    knowsPreboot: knowledge.preboot.length > 0,
    algorithms: orderHostKeyAlgorithms(knownTypes(knowledge)),
    judge: (blob) => {
      const seen = parseHostKey(blob);
      return seen === undefined ? { kind: 'unreadable' } : judgeKey(seen, knowledge);
    },
  };
}
