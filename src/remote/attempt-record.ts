import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import type { ConnectError, ConnectFailure, ConnectPhase } from './connect-failure.ts';
import { errorCodes } from './error-text.ts';
import type { HostKeyVerdict } from './keys/host-key-trust.ts';
import type { Identities } from './keys/identities.ts';
import { parsePlaintext } from './plaintext-phase.ts';

/** Notes what happens during one connection attempt, so that its failure can be judged afterwards. */
export interface AttemptRecord {
  /** Notes the verdict on the host key; true when the connection may go on. */
  readonly judged: (verdict: HostKeyVerdict) => boolean;
  /** Notes which methods the node offers after a login was refused. */
  readonly refused: (methodsLeft: readonly string[], isPartial: boolean) => void;
  /** Notes that the agent was asked to sign with a key, which the node would take. */
  readonly asked: (label: string) => void;
  /** Notes that it did. */
  readonly signed: (label: string) => void;
  /** Notes that the time for what was awaited passed, in milliseconds. */
  readonly late: (afterMs: number) => void;
  /** Everything so far. */
  readonly failure: () => ConnectFailure;
}

const maxPlaintextBytes = 64 * 1024;
const maxBannerChars = 64 * 1024;
const maxErrors = 16;

/** Listens to the first bytes of a socket, before ssh2 reads them, until the key exchange packet is complete. */
function listenToPlaintext(socket: Socket): () => Buffer {
  let bytes = Buffer.alloc(0);
  const listen = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length >= maxPlaintextBytes || parsePlaintext(bytes).offer !== undefined) socket.off('data', listen);
  };
  socket.on('data', listen).pause();
  return () => bytes;
}

function connectError(error: Error): ConnectError {
  const level = 'level' in error && typeof error.level === 'string' ? { level: error.level } : {};
  return { ...level, codes: errorCodes(error), message: error.message };
}

/** Notes of an attempt while it goes on. */
interface Notes {
  readonly errors: ConnectError[];
  readonly plaintext: () => Buffer;
  /** Keys for which the agent was asked and gave no signature. */
  readonly unsigned: Set<string>;
  /** An address is known. */
  isNamed: boolean;
  isConnected: boolean;
  isEncrypted: boolean;
  /** Set once a deadline has passed. */
  lateAfterMs?: number;
  banner: string;
  verdict?: HostKeyVerdict;
  login?: { readonly methodsLeft: readonly string[]; readonly isPartial: boolean };
}

function watch(client: Client, socket: Socket, isNamed: boolean): Notes {
  const plaintext = listenToPlaintext(socket);
  const flags = { isNamed, isConnected: false, isEncrypted: false };
  const notes: Notes = { errors: [], plaintext, unsigned: new Set(), ...flags, banner: '' };
  socket.once('lookup', (error: Error | null) => {
    notes.isNamed = !error;
  });
  socket.once('connect', () => {
    notes.isConnected = true;
  });
  client.once('handshake', () => {
    notes.isEncrypted = true;
  });
  client.on('banner', (text) => {
    notes.banner = `${notes.banner}${text}`.slice(0, maxBannerChars);
  });
  client.on('error', (error) => {
    const noted = connectError(error);
    if (notes.errors.length < maxErrors) notes.errors.push(noted);
    // An agent that cannot sign with one key may be able to with the next; every other error is final.
    if (noted.level !== 'agent') socket.destroy();
  });
  return notes;
}

function phaseOf(notes: Notes): ConnectPhase {
  if (!notes.isConnected) return notes.isNamed ? 'tcp' : 'name';
  if (notes.isEncrypted) return 'authentication';
  return parsePlaintext(notes.plaintext()).identification === undefined ? 'identification' : 'key-exchange';
}

/** Starts to take notes on an attempt; fatal errors also end its socket, so that no node can drag the end out. */
export function recordAttempt(
  client: Client,
  socket: Socket,
  context: { readonly deadlineMs: number; readonly identities: Identities; readonly isNamed: boolean },
): AttemptRecord {
  const notes = watch(client, socket, context.isNamed);
  return {
    judged: (verdict) => {
      notes.verdict = verdict;
      return verdict.kind === 'accepted';
    },
    refused: (methodsLeft, isPartial) => {
      notes.login = { methodsLeft, isPartial };
    },
    asked: (label) => {
      notes.unsigned.add(label);
    },
    signed: (label) => {
      notes.unsigned.delete(label);
    },
    late: (afterMs) => {
      notes.lateAfterMs = afterMs;
    },
    failure: () => ({
      phase: phaseOf(notes),
      errors: notes.errors,
      isLate: notes.lateAfterMs !== undefined,
      deadlineMs: notes.lateAfterMs ?? context.deadlineMs,
      plaintext: parsePlaintext(notes.plaintext()),
      ...(notes.verdict === undefined ? {} : { verdict: notes.verdict }),
      banner: notes.banner,
      ...(notes.login === undefined ? {} : { methodsLeft: notes.login.methodsLeft }),
      isPartial: notes.login?.isPartial ?? false,
      offered: context.identities.offers.map((offer) => offer.label),
      unsigned: [...notes.unsigned],
      leftOut: context.identities.leftOut,
      keyProblems: context.identities.problems,
    }),
  };
}
