import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Client } from 'ssh2';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import { isHost, isTcpPort, isUser } from './address.ts';
import { type HostKeyAlgorithm, hostKeyAlgorithms, strictAlgorithms } from './algorithms.ts';
import { type AttemptRecord, recordAttempt } from './attempt-record.ts';
import { publickeyOnly } from './auth.ts';
import { diagnoseConnect } from './connect-failure.ts';
import { fingerprint, parseHostKey } from './host-key.ts';
import { type HostKeyTrust, trustName } from './host-key-trust.ts';
import { collectIdentities, type Identities } from './identities.ts';
import { loadSsh2 } from './load-ssh2.ts';
import { createLookUp, type LookUp } from './look-up-name.ts';
import type { ConnectLimits, Remote, Target } from './remote.ts';
import { openSpareLookUp } from './spare-look-up.ts';
import { SshRemote } from './ssh-remote.ts';

const keepaliveMs = 5_000;
const keepaliveCountMax = 3;
/** A node with several addresses: each but the last one has this long at most, else a third of the deadline. */
const addressMs = 3_000;

/** The system's lookups; libuv runs two of them at once, whatever the size of its pool is by default. */
const systemLookUp = createLookUp({
  lookUp: (host) => lookup(host, { all: true }),
  places: 2,
  patienceMs: 400,
  openSpare: openSpareLookUp,
});

/** A host key as a node showed it, with what a person compares. */
export interface OfferedHostKey extends HostKey {
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

interface Attempt {
  readonly client: Client;
  readonly socket: Socket;
  readonly record: AttemptRecord;
}

function checkAddress(target: Target): void {
  if (isHost(target.host) && isUser(target.user) && isTcpPort(target.port)) return;
  const detail = `${JSON.stringify(target.user)} at ${JSON.stringify(target.host)} port ${target.port} is no address of a node.`;
  throw new FleetError([diagnose('ssh/bad-address', { detail, subject: `node ${target.label}` })]);
}

/** What a socket asks for the addresses of a name. It is not asked at all for an IP address. */
const socketLookUp =
  (lookUp: LookUp): LookupFunction =>
  (host, options, done) => {
    lookUp(host).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) done(Object.assign(new Error('the name has no address'), { code: 'ENODATA' }), '');
        else if (options.all === true) done(null, [...addresses]);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, ''),
    );
  };

async function attempt(target: Target, limits: ConnectLimits, identities: Identities): Promise<Attempt> {
  const { Client } = await loadSsh2();
  const client = new Client();
  const { host, port } = target;
  const { deadlineMs, lookUp = systemLookUp } = limits;
  const socket = connectTcp({
    host,
    port,
    noDelay: true,
    lookup: socketLookUp(lookUp),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.min(addressMs, Math.floor(deadlineMs / 3))),
  });
  const record = recordAttempt(client, socket, { deadlineMs, identities, isNamed: isIP(host) !== 0 });
  return { client, socket, record };
}

/**
 * Waits for `ready`, or for the end of the attempt. Gives the milliseconds from the name being known to a connection
 * that stands; undefined when there is none. The lookup has the same deadline for itself.
 */
function outcome(
  { client, socket, record }: Attempt,
  { deadlineMs, signal }: ConnectLimits,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    let startedAt = performance.now();
    const abort = (): void => {
      socket.destroy();
    };
    const end = (connectMs: number | undefined): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(connectMs);
    };
    const timer = setTimeout(() => {
      record.late();
      socket.destroy();
      end(undefined);
    }, deadlineMs);
    socket.once('lookup', () => {
      startedAt = performance.now();
      timer.refresh();
    });
    client.once('ready', () => end(performance.now() - startedAt)).once('close', () => end(undefined));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
  });
}

function refuseWithoutKeys(target: Target, identities: Identities): void {
  if (identities.offers.length > 0) return;
  const subject = `node ${target.label}`;
  const [first, ...rest] = identities.problems.map((one) => ({ ...one, subject }));
  if (first !== undefined) throw new FleetError([first, ...rest]);
  const detail = `Nothing can be offered to ${target.user}@${target.host}: no key file exists, and no agent holds a key.`;
  throw new FleetError([diagnose('ssh/no-key', { detail, subject })]);
}

/**
 * Connects to a node and logs in by public key. The host key is verified before anything is offered.
 * @throws FleetError with exactly one `ssh/…` code about the network, the host key or the login, or one per key file
 * when nothing can be offered at all
 */
export async function connect(target: Target, trust: HostKeyTrust, limits: ConnectLimits): Promise<Remote> {
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
export async function fetchHostKey(
  target: Target,
  limits: ConnectLimits,
  algorithms: readonly HostKeyAlgorithm[] = hostKeyAlgorithms,
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
