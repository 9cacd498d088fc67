import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Client } from 'ssh2';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import { nodeSubject } from '../model/subject.ts';
import { isHost, isTcpPort, isUser } from './address.ts';
import { type AttemptRecord, recordAttempt } from './attempt-record.ts';
import { fingerprint } from './keys/host-key.ts';
import type { Identities } from './keys/identities.ts';
import { loadSsh2 } from './load-ssh2.ts';
import { createLookUp, type LookUp } from './look-up-name.ts';
import { onAbort } from './on-abort.ts';
import type { ConnectLimits, Target } from './remote.ts';
import { openSpareLookUp } from './spare-look-up.ts';

/** A node with several addresses: each but the last one has this long at most, else a third of the deadline. */
const addressMs = 3_000;

/** The system's lookups; libuv runs two of them at once, whatever the size of its pool is by default. */
const systemLookUp = createLookUp({
  lookUp: (host) => lookup(host, { all: true }),
  places: 2,
  patienceMs: 400,
  openSpare: openSpareLookUp,
});

/** A connection attempt that goes on: nothing is offered in it yet. */
export interface Attempt {
  readonly client: Client;
  readonly socket: Socket;
  readonly record: AttemptRecord;
}

/** Refuses what cannot be an address. @throws FleetError `ssh/bad-address` */
export function checkAddress(target: Target): void {
  if (isHost(target.host) && isUser(target.user) && isTcpPort(target.port)) return;
  const detail = `${JSON.stringify(target.user)} at ${JSON.stringify(target.host)} port ${target.port} is no address of a node.`;
  throw new FleetError([diagnose('ssh/bad-address', { detail, subject: nodeSubject(target.label) })]);
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

/** How long a node may be silent at first. */
const firstByteMs = ({ deadlineMs, firstByteMs: most = deadlineMs }: ConnectLimits): number =>
  Math.min(most, deadlineMs);

/** Begins to connect to a node, with a record of everything that happens. */
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
    const seen = 'seen' in verdict ? { fingerprint: fingerprint(verdict.seen) } : {};
    limits.onRemote?.({ kind: 'host-key', node: target.label, verdict: verdict.kind, ...seen });
    return record.judged(verdict);
  };
  client.once('ready', () => limits.onRemote?.({ kind: 'connected', node: target.label }));
  return { client, socket, record: { ...record, judged } };
}

/** Tells the listener where a connection is made, and why there is none in the end. */
export async function reported<T>(target: Target, limits: ConnectLimits, act: () => Promise<T>): Promise<T> {
  const { label: node, user, host, port } = target;
  limits.onRemote?.({ kind: 'connecting', node, address: `${user}@${host}:${port}` });
  try {
    return await act();
  } catch (error) {
    // An interrupted attempt says nothing about the node.
    const isTheirs = error instanceof FleetError && limits.signal?.aborted !== true;
    if (isTheirs) limits.onRemote?.({ kind: 'refused', node, diagnostics: error.diagnostics });
    throw error;
  }
}

/**
 * Waits for `ready`, or for the end of the attempt. Gives the milliseconds from the name being known to a connection
 * that stands; undefined when there is none. The lookup has the same deadline for itself.
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
