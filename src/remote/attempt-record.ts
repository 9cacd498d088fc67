import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import type { ConnectError, ConnectFailure, ConnectPhase } from './connect-failure.ts';
import { errorCodes } from './error-text.ts';
import type { HostKeyVerdict } from './host-key-trust.ts';
import type { Identities } from './identities.ts';
import { parsePlaintext } from './plaintext-phase.ts';

/** Notes what happens during one connection attempt, so that its failure can be judged afterwards. */
export interface AttemptRecord {
  /** Notes the verdict on the host key; true when the connection may go on. */
  readonly judged: (verdict: HostKeyVerdict) => boolean;
  /** Notes which methods the node offers after a login was refused. */
  readonly refused: (methodsLeft: readonly string[], isPartial: boolean) => void;
  /** Notes that the deadline passed. */
  readonly late: () => void;
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

/** Starts to take notes on an attempt; fatal errors also end its socket, so that no node can drag the end out. */
export function recordAttempt(
  client: Client,
  socket: Socket,
  context: { readonly deadlineMs: number; readonly identities: Identities },
): AttemptRecord {
  const plaintext = listenToPlaintext(socket);
  const errors: ConnectError[] = [];
  const seen: { isConnected: boolean; isEncrypted: boolean; isLate: boolean; banner: string } = {
    isConnected: false,
    isEncrypted: false,
    isLate: false,
    banner: '',
  };
  let verdict: HostKeyVerdict | undefined;
  let login: { readonly methodsLeft: readonly string[]; readonly isPartial: boolean } | undefined;
  socket.once('connect', () => {
    seen.isConnected = true;
  });
  client.once('handshake', () => {
    seen.isEncrypted = true;
  });
  client.on('banner', (text) => {
    seen.banner = `${seen.banner}${text}`.slice(0, maxBannerChars);
  });
  client.on('error', (error) => {
    const noted = connectError(error);
    if (errors.length < maxErrors) errors.push(noted);
    if (noted.level !== 'agent') socket.destroy();
  });
  const phase = (): ConnectPhase => {
    if (!seen.isConnected) return 'tcp';
    if (seen.isEncrypted) return 'authentication';
    return parsePlaintext(plaintext()).identification === undefined ? 'identification' : 'key-exchange';
  };
  return {
    judged: (given) => {
      verdict = given;
      return given.kind === 'accepted';
    },
    refused: (methodsLeft, isPartial) => {
      login = { methodsLeft, isPartial };
    },
    late: () => {
      seen.isLate = true;
    },
    failure: () => ({
      phase: phase(),
      errors,
      isLate: seen.isLate,
      deadlineMs: context.deadlineMs,
      plaintext: parsePlaintext(plaintext()),
      ...(verdict === undefined ? {} : { verdict }),
      banner: seen.banner,
      ...(login === undefined ? {} : { methodsLeft: login.methodsLeft }),
      isPartial: login?.isPartial ?? false,
      offered: context.identities.offers.map((offer) => offer.label),
      leftOut: context.identities.leftOut,
      keyProblems: context.identities.problems,
    }),
  };
}
