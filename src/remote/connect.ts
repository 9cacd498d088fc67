import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import { nodeSubject } from '../model/subject.ts';
import { type HostKeyAlgorithm, hostKeyAlgorithms, strictAlgorithms } from './algorithms.ts';
import { attempt, checkAddress, outcome, reported } from './attempt.ts';
import { diagnoseConnect } from './connect-failure.ts';
import { publickeyOnly } from './keys/auth.ts';
import { fingerprint, parseHostKey } from './keys/host-key.ts';
import { type HostKeyTrust, trustName } from './keys/host-key-trust.ts';
import { collectIdentities, type Identities } from './keys/identities.ts';
import type { ConnectLimits, Remote, Target } from './remote.ts';
import { SshRemote } from './ssh-remote.ts';

const keepaliveMs = 5_000;
const keepaliveCountMax = 3;
/** A host key as a node showed it, with what a person compares. */
export interface OfferedHostKey extends HostKey {
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

function refuseWithoutKeys(target: Target, identities: Identities): void {
  if (identities.offers.length > 0) return;
  const subject = nodeSubject(target.label);
  const [first, ...rest] = identities.problems.map((one) => ({ ...one, subject }));
  if (first !== undefined) throw new FleetError([first, ...rest]);
  const detail = `No SSH key available for ${target.user}@${target.host}: no key file exists, and no agent holds a key.`;
  throw new FleetError([diagnose('ssh/no-key', { detail, subject })]);
}

/**
 * Connects to a node and logs in by public key. The host key is verified before anything is offered.
 * @throws FleetError with exactly one `ssh/…` code about the network, the host key or the login, or one per key file
 * when nothing can be offered at all
 */
export const connect = (target: Target, trust: HostKeyTrust, limits: ConnectLimits): Promise<Remote> =>
  reported(target, limits, () => connectByKey(target, trust, limits));

async function connectByKey(target: Target, trust: HostKeyTrust, limits: ConnectLimits): Promise<Remote> {
  checkAddress(target);
  if (trust.name !== trustName(target)) throw new Error(`trust of ${trust.name} used for ${trustName(target)}`);
  const identities = await collectIdentities(target);
  refuseWithoutKeys(target, identities);
  const tried = await attempt(target, limits, identities);
  const { client, socket, record } = tried;
  client.connect({
    sock: socket,
    username: target.user,
    algorithms: { ...strictAlgorithms, serverHostKey: [...trust.algorithms] },
    hostVerifier: (blob: Buffer) => record.judged(trust.judge(blob)),
    authHandler: await publickeyOnly(target.user, identities.offers, record),
    readyTimeout: 0,
    keepaliveInterval: limits.keepaliveMs ?? keepaliveMs,
    keepaliveCountMax,
  });
  const connectMs = await outcome(tried, limits);
  if (connectMs !== undefined) return new SshRemote(client, socket, { rootPrefix: target.rootPrefix, connectMs });
  socket.destroy();
  throw new FleetError([diagnoseConnect(target, record.failure())]);
}

/**
 * Asks a node for its host key without logging in: the key exchange is broken off as soon as the key was shown.
 * Of several keys the node shows the first in the order of `algorithms`, those of a {@link HostKeyTrust}: a key that
 * is known already is asked for first. Without them the order is Ed25519, ECDSA, RSA.
 * @throws FleetError with one `ssh/…` code about the network
 */
export const fetchHostKey = (
  target: Target,
  limits: ConnectLimits,
  algorithms: readonly HostKeyAlgorithm[] = hostKeyAlgorithms,
): Promise<OfferedHostKey> => reported(target, limits, () => askHostKey(target, limits, algorithms));

async function askHostKey(
  target: Target,
  limits: ConnectLimits,
  algorithms: readonly HostKeyAlgorithm[],
): Promise<OfferedHostKey> {
  checkAddress(target);
  const tried = await attempt(target, limits, { offers: [], leftOut: 0, problems: [] });
  const { client, socket, record } = tried;
  const seen: HostKey[] = [];
  client.connect({
    sock: socket,
    username: target.user,
    algorithms: { ...strictAlgorithms, serverHostKey: [...algorithms] },
    hostVerifier: (blob: Buffer) => {
      const key = parseHostKey(blob);
      if (key === undefined) record.judged({ kind: 'unreadable' });
      else seen.push(key);
      return false;
    },
    authHandler: [],
    readyTimeout: 0,
  });
  await outcome(tried, limits);
  socket.destroy();
  const [key] = seen;
  if (key === undefined) throw new FleetError([diagnoseConnect(target, record.failure())]);
  return { ...key, fingerprint: fingerprint(key) };
}
