import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, type NonEmpty } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { connect } from '../../remote/connect.ts';
import type { HostKeyTrust } from '../../remote/keys/host-key-trust.ts';
import { onAbort } from '../../remote/on-abort.ts';
import type { ConnectLimits, ExecLimits, ExecResult, Remote, RemoteListener, Target } from '../../remote/remote.ts';

/** One login that several uses share. */
interface SharedLogin {
  readonly logIn: LogIn;
  /** Ends the connection, if there is one; whoever made this calls it. */
  readonly end: () => void;
}

/**
 * A login that is made by its first use and ended by its maker, so that a password is sent once for all of them. One
 * that failed stays failed: it is not tried again.
 */
export function sharedLogin(make: LogIn): SharedLogin {
  let making: Promise<Remote> | undefined;
  let made: Remote | undefined;
  let isEnded = false;
  const first: LogIn = async (way, limits) => {
    const remote = await make(way, limits);
    made = remote;
    if (isEnded) remote.close();
    return remote;
  };
  return {
    logIn: async (way, limits) => {
      const isFirst = making === undefined;
      making ??= first(way, limits);
      const remote = await making;
      return {
        rootPrefix: remote.rootPrefix,
        connectMs: isFirst ? remote.connectMs : 0,
        close: () => undefined,
        exec: (command, bounds) => remote.exec(command, bounds),
      };
    },
    end: () => {
      isEnded = true;
      made?.close();
    },
  };
}

/** A way to a node and what makes its host key trustworthy, or the reasons why there is none. */
export type Way =
  | { readonly kind: 'way'; readonly target: Target; readonly trust: HostKeyTrust }
  | { readonly kind: 'no-way'; readonly diagnostics: NonEmpty<Diagnostic> };

/** One node with the way to it. */
export interface NodeWay {
  readonly node: NodeName;
  readonly way: Way;
}

/** Bounds of one use of a connection. */
export interface UseLimits {
  /** How long one node may take: connecting, login and commands share it. Only looking its name up has its own. */
  readonly deadlineMs: number;
  /** Until a node sends its first byte, where that is less. */
  readonly firstByteMs?: number;
  /** When aborted, the connection is ended at once. */
  readonly signal?: AbortSignal;
  /** Told of connections, of every command just before it is sent, and of how it ended: for the controller's own record. */
  readonly onRemote?: RemoteListener;
}

/** What came of a use: the value of the body, or why the node was not reached. */
export type Reached<T> =
  | { readonly kind: 'reached'; readonly value: T }
  | { readonly kind: 'unreached'; readonly diagnostics: NonEmpty<Diagnostic> };

/** A login at the end of a way; by key unless given. */
export type LogIn = (way: Extract<Way, { kind: 'way' }>, limits: ConnectLimits) => Promise<Remote>;

const byKey: LogIn = ({ target, trust }, limits) => connect(target, trust, limits);

/**
 * Connects, hands the connection to `body` with the milliseconds that are left to it (at least 1), and ends it
 * whatever happens. Only a bug rejects.
 */
export async function withRemote<T>(
  { node, way }: NodeWay,
  limits: UseLimits,
  body: (remote: Remote, leftMs: number) => Promise<T>,
  logIn: LogIn = byKey,
): Promise<Reached<T>> {
  if (way.kind === 'no-way') return { kind: 'unreached', diagnostics: way.diagnostics };
  try {
    const { deadlineMs, firstByteMs, signal, onRemote } = limits;
    const remote = await logIn(way, { deadlineMs, ...given({ firstByteMs, signal, onRemote }) });
    const forget = onAbort(signal, () => remote.close());
    try {
      const leftMs = Math.max(1, Math.floor(deadlineMs - remote.connectMs));
      return { kind: 'reached', value: await body(recorded(remote, node, onRemote), leftMs) };
    } finally {
      forget();
      remote.close();
    }
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    // An interrupted attempt says nothing about the node.
    const isOurDoing = limits.signal?.aborted === true;
    return { kind: 'unreached', diagnostics: isOurDoing ? [interruption(node)] : error.diagnostics };
  }
}

function recorded(remote: Remote, node: NodeName, onRemote: UseLimits['onRemote']): Remote {
  return {
    rootPrefix: remote.rootPrefix,
    connectMs: remote.connectMs,
    close: () => remote.close(),
    exec: (command, limits) => execRecorded(remote, { node, onRemote, command }, limits),
  };
}

/** One command, and who is told of it. */
interface RecordedCommand {
  readonly node: NodeName;
  readonly onRemote: RemoteListener | undefined;
  readonly command: string;
  /** Of the input what the controller's own record may keep. */
  readonly script?: string | undefined;
}

/** Runs a command that is reported before it is sent, and when it has ended. */
export async function execRecorded(
  remote: Remote,
  { node, onRemote, command, script }: RecordedCommand,
  limits: ExecLimits,
): Promise<ExecResult> {
  const { name } = limits;
  onRemote?.({ kind: 'sent', node, name, command, ...given({ script }) });
  const result = await remote.exec(command, limits);
  const { exit, sentAtEpochMs, receivedAtEpochMs } = result;
  onRemote?.({ kind: 'answered', node, name, exit, ms: receivedAtEpochMs - sentAtEpochMs });
  return result;
}

/** The end of a run before it came to a node, or while it asked it. */
export const interruption = (node: string): Diagnostic =>
  diagnose('run/interrupted', { subject: nodeSubject(node), detail: prose`${named(node)} was not reached any more.` });
