import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { AuthHandlerMiddleware, Client } from 'ssh2';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/diagnostic.ts';
import { given } from '../model/given.ts';
import { nodeSubject } from '../model/subject.ts';
import { type ConnectError, type ConnectFailure, parsePlaintext } from './connect-failure.ts';
import { fingerprint } from './keys/host-key.ts';
import { type HostKeyTrust, type HostKeyVerdict, trustName } from './keys/host-key-trust.ts';
import type { Identities } from './keys/identities.ts';
import { createLookUp, type LookUp, openSpareLookUp } from './look-up-name.ts';
import { onAbort } from './on-abort.ts';
import { type ConnectLimits, isHost, isTcpPort, isUser, type Remote, type Target } from './remote.ts';
import { SshRemote } from './ssh-remote.ts';
import { errorCodes, loadSsh2, strictAlgorithms } from './ssh2.ts';

const keepaliveMs = 5_000;
const keepaliveCountMax = 3;
const maxPlaintextBytes = 64 * 1024;
const maxBannerChars = 64 * 1024;
const maxErrors = 16;

/** Collects a socket's first bytes before ssh2 reads them, until the key exchange packet is complete. */
function listenToPlaintext(socket: Socket): () => Buffer {
  let bytes = Buffer.alloc(0);
  const listen = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length >= maxPlaintextBytes || parsePlaintext(bytes).offer !== undefined) socket.off('data', listen);
  };
  socket.on('data', listen).pause();
  return () => bytes;
}

export type AttemptRecord = ReturnType<typeof recordAttempt>;

/** Converts an ssh2 error, which may contain the level where it occurred. */
function connectErrorOf(error: Error & { readonly level?: unknown }): ConnectError {
  const level = typeof error.level === 'string' ? error.level : undefined;
  return { ...given({ level }), codes: errorCodes(error), message: error.message };
}

/** Starts the record of an attempt. Fatal errors destroy the socket, so that no node can delay the result. */
export function recordAttempt(
  client: Client,
  socket: Socket,
  context: { readonly deadlineMs: number; readonly identities: Identities; readonly isNamed: boolean },
) {
  const plaintext = listenToPlaintext(socket);
  const errors: ConnectError[] = [];
  const unsigned = new Set<string>();
  let reached: 'name' | 'tcp' | 'connected' | 'authentication' = context.isNamed ? 'tcp' : 'name';
  let lateAfterMs: number | undefined;
  let banner = '';
  let keyVerdict: HostKeyVerdict | undefined;
  let login: { readonly methodsLeft?: readonly string[]; readonly isPartial: boolean } = { isPartial: false };
  socket.once('lookup', (error: Error | null) => {
    reached = error ? 'name' : 'tcp';
  });
  socket.once('connect', () => {
    reached = 'connected';
  });
  client.once('handshake', () => {
    reached = 'authentication';
  });
  client.on('banner', (text) => {
    banner = `${banner}${text}`.slice(0, maxBannerChars);
  });
  client.on('error', (error: Error) => {
    const noted = connectErrorOf(error);
    if (errors.length < maxErrors) errors.push(noted);
    // An agent that cannot sign with one key may sign with the next; all other errors are final.
    if (noted.level !== 'agent') socket.destroy();
  });
  const phase = (): ConnectFailure['phase'] => {
    if (reached !== 'connected') return reached;
    return parsePlaintext(plaintext()).identification === undefined ? 'identification' : 'key-exchange';
  };
  return {
    /** Records the verdict on the host key; true if the connection may continue. */
    judged: (verdict: HostKeyVerdict): boolean => {
      keyVerdict = verdict;
      return verdict.kind === 'accepted';
    },
    /** Records the methods that the node still accepts after a rejected login. */
    refused: (methodsLeft: readonly string[], isPartial: boolean): void => {
      login = { methodsLeft, isPartial };
    },
    /** Records that the agent was asked to sign with a key that the node accepts. */
    asked: (label: string): void => void unsigned.add(label),
    /** Records that the agent signed. */
    signed: (label: string): void => void unsigned.delete(label),
    /** Records that a limit passed, in milliseconds. */
    late: (afterMs: number): void => {
      lateAfterMs = afterMs;
    },
    failure: (): ConnectFailure => ({
      phase: phase(),
      errors,
      isLate: lateAfterMs !== undefined,
      deadlineMs: lateAfterMs ?? context.deadlineMs,
      plaintext: parsePlaintext(plaintext()),
      ...given({ verdict: keyVerdict }),
      banner,
      ...login,
      offered: context.identities.offers.map((offer) => offer.label),
      unsigned: [...unsigned],
      leftOut: context.identities.leftOut,
      keyProblems: context.identities.problems,
    }),
  };
}

/** Time limit per address if a node has several: at most a third of the deadline. The last one has no own limit. */
const addressMs = 3_000;

/** The system's name lookups. libuv runs only two of them at a time, regardless of its default pool size. */
const systemLookUp = createLookUp({
  lookUp: (host) => lookup(host, { all: true }),
  places: 2,
  patienceMs: 400,
  openSpare: openSpareLookUp,
});

/** A running connection attempt in which no key has been offered yet. */
export interface Attempt {
  readonly client: Client;
  readonly socket: Socket;
  readonly record: AttemptRecord;
}

/** Rejects invalid addresses, and host key trust for a different address. @throws FleetError `ssh/bad-address` */
export function checkTarget(target: Target, trust?: HostKeyTrust): void {
  if (!isHost(target.host) || !isUser(target.user) || !isTcpPort(target.port)) {
    const detail = `${JSON.stringify(target.user)} at ${JSON.stringify(target.host)} port ${target.port} is not a valid node address.`;
    throw new FleetError([diagnose('ssh/bad-address', { detail, subject: nodeSubject(target.label) })]);
  }
  if (trust === undefined || trust.name === trustName(target)) return;
  throw new Error(`trust of ${trust.name} used for ${trustName(target)}`);
}

/** The socket's name lookup. It is not called for an IP address. */
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

/** Time limit in milliseconds for a node's first byte. */
const firstByteMs = ({ deadlineMs, firstByteMs: most = deadlineMs }: ConnectLimits): number =>
  Math.min(most, deadlineMs);

export async function attempt(target: Target, limits: ConnectLimits, identities: Identities): Promise<Attempt> {
  const { Client } = await loadSsh2();
  const client = new Client();
  const { host, port } = target;
  const { deadlineMs, lookUp = systemLookUp } = limits;
  const answerMs = firstByteMs(limits);
  const socket = connectTcp({
    host,
    port,
    noDelay: true,
    lookup: socketLookUp(lookUp),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.min(addressMs, Math.floor(answerMs / 3))),
  });
  const record = recordAttempt(client, socket, { deadlineMs, identities, isNamed: isIP(host) !== 0 });
  const judged: AttemptRecord['judged'] = (verdict) => {
    const shown = 'seen' in verdict ? fingerprint(verdict.seen) : undefined;
    limits.onRemote?.({
      kind: 'host-key',
      node: target.label,
      verdict: verdict.kind,
      ...given({ fingerprint: shown }),
    });
    return record.judged(verdict);
  };
  client.once('ready', () => limits.onRemote?.({ kind: 'connected', node: target.label }));
  return { client, socket, record: { ...record, judged } };
}

/** Verifies the host key, logs in, and waits like {@link outcome}. */
export function logIn(
  tried: Attempt,
  { target, trust }: { readonly target: Target; readonly trust: HostKeyTrust },
  limits: ConnectLimits,
  authHandler: AuthHandlerMiddleware,
): Promise<number | undefined> {
  const { client, socket, record } = tried;
  client.connect({
    sock: socket,
    username: target.user,
    algorithms: { ...strictAlgorithms, serverHostKey: [...trust.algorithms] },
    hostVerifier: (blob: Buffer) => record.judged(trust.judge(blob)),
    authHandler,
    readyTimeout: 0,
    keepaliveInterval: limits.keepaliveMs ?? keepaliveMs,
    keepaliveCountMax,
  });
  return outcome(tried, limits);
}

/** Returns the connection of a successful attempt; otherwise closes the socket and returns undefined. */
export function connectionOf(
  { client, socket, record }: Attempt,
  target: Target,
  { onRemote }: ConnectLimits,
  connectMs?: number,
): Remote | undefined {
  const { verdict } = record.failure();
  const hostKey = verdict?.kind === 'accepted' ? verdict.seen : undefined;
  const login = { target, ...given({ hostKey, onRemote }) };
  if (connectMs !== undefined) return new SshRemote(client, socket, { ...login, connectMs });
  socket.destroy();
  return undefined;
}

/** Reports the result of a connection attempt to the listener. */
export async function reported<T>(target: Target, limits: ConnectLimits, act: () => Promise<T>): Promise<T> {
  const { label: node, user, host, port } = target;
  limits.onRemote?.({ kind: 'connecting', node, address: `${user}@${host}:${port}` });
  try {
    return await act();
  } catch (error) {
    // An interrupted attempt is not the node's fault.
    const isTheirs = error instanceof FleetError && limits.signal?.aborted !== true;
    if (isTheirs) limits.onRemote?.({ kind: 'refused', node, diagnostics: error.diagnostics });
    throw error;
  }
}

/**
 * Waits for `ready` or for the end of the attempt. Returns the milliseconds from the resolved name to the connection;
 * undefined if it failed. The lookup has its own limit of the same length.
 */
export function outcome({ client, socket, record }: Attempt, limits: ConnectLimits): Promise<number | undefined> {
  const { deadlineMs, signal } = limits;
  const answerMs = firstByteMs(limits);
  return new Promise((resolve) => {
    let startedAt = performance.now();
    const end = (connectMs: number | undefined): void => {
      clearTimeout(timer);
      forget();
      resolve(connectMs);
    };
    const giveUp = (afterMs: number): void => {
      record.late(afterMs);
      socket.destroy();
      end(undefined);
    };
    let timer = setTimeout(giveUp, answerMs, answerMs);
    socket.once('lookup', () => {
      startedAt = performance.now();
      timer.refresh();
    });
    socket.once('data', () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, Math.max(1, deadlineMs - (performance.now() - startedAt)), deadlineMs);
    });
    client.once('ready', () => end(performance.now() - startedAt)).once('close', () => end(undefined));
    const forget = onAbort(signal, () => void socket.destroy());
  });
}
