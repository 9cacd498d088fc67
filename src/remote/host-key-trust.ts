import type { ClusterLock, HostKey } from '../model/cluster-lock.ts';
import { lookupName } from './address.ts';
import { type HostKeyAlgorithm, orderHostKeyAlgorithms } from './algorithms.ts';
import { parseHostKey } from './host-key.ts';
import { entriesFor, type KnownHostsEntry, type KnownHostsText } from './known-hosts.ts';
import type { Target } from './remote.ts';

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
  | { readonly kind: 'unreadable' };

/** Where known host keys are looked up. */
export interface TrustSources {
  /** In the order in which ssh reads them: the user's files, then the machine's. */
  readonly knownHosts: readonly KnownHostsText[];
  readonly lock?: ClusterLock;
}

const trusted: unique symbol = Symbol('host key trust');

/** Who a node must be. Made by {@link trustFor} alone, so that no connection exists without a verdict on its host key. */
export interface HostKeyTrust {
  readonly [trusted]: true;
  /** The name that was looked up: `host`, `[host]:port`, or ssh's HostKeyAlias. */
  readonly name: string;
  /** Host-key algorithms to offer, known types first. */
  readonly algorithms: readonly HostKeyAlgorithm[];
  /** Judges the key that the node shows, in its wire form. */
  readonly judge: (blob: Buffer) => HostKeyVerdict;
}

/** The name by which the keys of a target are looked up in known_hosts. */
export const trustName = (target: Pick<Target, 'host' | 'port' | 'hostKeyAlias'>): string =>
  target.hostKeyAlias ?? lookupName(target.host, target.port);

function pinsFor(target: Pick<Target, 'host' | 'port'>, lock: ClusterLock | undefined): readonly KnownKey[] {
  const name = lookupName(target.host, target.port);
  if (lock === undefined || !Object.hasOwn(lock.hostKeys, name)) return [];
  return (lock.hostKeys[name] ?? []).map((pin) => ({ ...pin, file: lock.file }));
}

const nearest = (seen: HostKey, keys: readonly KnownKey[]): KnownKey | undefined =>
  keys.find((key) => key.type === seen.type) ?? keys[0];

function judgeKey(seen: HostKey, plain: readonly KnownKey[], entries: readonly KnownHostsEntry[]): HostKeyVerdict {
  const isSame = (key: HostKey): boolean => key.base64 === seen.base64;
  const revoked = entries.find((entry) => entry.marker === 'revoked' && isSame(entry));
  if (revoked !== undefined) return { kind: 'revoked', seen, known: revoked };
  const accepted = plain.find(isSame);
  if (accepted !== undefined) return { kind: 'accepted', seen, known: accepted };
  const authority = entries.find((entry) => entry.marker === 'cert-authority');
  const known = nearest(seen, plain);
  if (known !== undefined) return { kind: 'changed', seen, known };
  return authority === undefined
    ? { kind: 'unknown', seen }
    : { kind: 'certificate-authority', seen, known: authority };
}

/**
 * Settles who a node must be. Pins of `cluster.lock` for its address (`host` or `[host]:port`) win over known_hosts;
 * a `@revoked` line wins over both. Otherwise the verdict is OpenSSH's own.
 */
export function trustFor(target: Pick<Target, 'host' | 'port' | 'hostKeyAlias'>, sources: TrustSources): HostKeyTrust {
  const name = trustName(target);
  const entries = entriesFor(name, sources.knownHosts);
  const pins = pinsFor(target, sources.lock);
  const plain = pins.length > 0 ? pins : entries.filter((entry) => entry.marker === 'none');
  return {
    [trusted]: true,
    name,
    algorithms: orderHostKeyAlgorithms(plain.map((key) => key.type)),
    judge: (blob) => {
      const seen = parseHostKey(blob);
      return seen === undefined ? { kind: 'unreadable' } : judgeKey(seen, plain, entries);
    },
  };
}
