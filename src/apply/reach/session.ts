import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, type NonEmpty } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { connect } from '../../remote/connect.ts';
import type { HostKeyTrust } from '../../remote/keys/host-key-trust.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import { onAbort } from '../../remote/on-abort.ts';
import type { ConnectLimits, ExecLimits, ExecResult, Remote, RemoteListener, Target } from '../../remote/remote.ts';
import { pause } from '../run-timing.ts';

/** One login that several uses share. */
interface SharedLogin {
  readonly logIn: LogIn;
  /** Ends the connection, if there is one; the maker of the session calls it. */
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
export type Way = OpenWay | { readonly kind: 'no-way'; readonly diagnostics: NonEmpty<Diagnostic> };

/** A way that can be connected over. */
export interface OpenWay {
  readonly kind: 'way';
  readonly target: Target;
  readonly trust: HostKeyTrust;
}

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
export type LogIn = (way: OpenWay, limits: ConnectLimits) => Promise<Remote>;

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

/** One command, and what it reports to. */
interface RecordedCommand {
  readonly node: NodeName;
  readonly onRemote: RemoteListener | undefined;
  readonly command: string;
  /** Of the input what the controller's own record may keep. */
  readonly script?: string | undefined;
}

/** Runs a command that is reported before it is sent, and when it has ended. */
async function execRecorded(
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
  diagnose('run/interrupted', {
    subject: nodeSubject(node),
    detail: prose`The run was interrupted before ${named(node)} answered.`,
  });

/** How one command went on one node: what it gave, or why it could not be given. */
export type CommandOutcome =
  | { readonly kind: 'ended'; readonly node: NodeName; readonly result: ExecResult }
  | { readonly kind: 'unreached'; readonly node: NodeName; readonly diagnostics: readonly Diagnostic[] };

/** Bounds of a command on many nodes. */
interface CommandOptions extends UseLimits {
  readonly parallel: number;
  readonly maxBytes: number;
  /** Called as each node ends, in the order in which they end. */
  readonly onOutcome?: (outcome: CommandOutcome) => void;
}

/** A command line that depends on its node, with its input. */
export type CommandFor = (
  node: NodeName,
  rootPrefix: string,
) => Pick<ExecLimits, 'name' | 'stdin'> & { readonly command: string };

/** Runs one command line on many nodes at once, each over its own connection. Never resent: it may not be idempotent. */
export async function runCommand(
  ways: readonly NodeWay[],
  command: string | CommandFor,
  options: CommandOptions,
): Promise<readonly CommandOutcome[]> {
  const outcomes = new Map<NodeName, CommandOutcome>();
  const { maxBytes } = options;
  await forEachLimited(ways, options.parallel, async (way) => {
    const { node } = way;
    const reached = await withRemote(way, options, (remote, leftMs) => {
      const one = typeof command === 'string' ? { name: 'exec', command } : command(node, remote.rootPrefix);
      const { command: line, ...input } = one;
      return remote.exec(line, { deadlineMs: leftMs, maxBytes, ...input });
    });
    const outcome: CommandOutcome =
      reached.kind === 'reached'
        ? { kind: 'ended', node, result: reached.value }
        : { kind: 'unreached', node, diagnostics: reached.diagnostics };
    outcomes.set(node, outcome);
    options.onOutcome?.(outcome);
  });
  return ways.flatMap(({ node }) => outcomes.get(node) ?? []);
}

/** What came of asking a node for something over its session. */
export type SessionAnswer =
  /** It was sent; its exit may be unknown. */
  | { readonly kind: 'ended'; readonly result: ExecResult; readonly rootPrefix: string }
  /** Nothing was sent. */
  | { readonly kind: 'unreached'; readonly diagnostics: NonEmpty<Diagnostic> };

/** A command line, or one that needs to know where the node's root is. */
type SessionCommand = (rootPrefix: string) => ExecLimits & {
  readonly command: string;
  /** Of the input what the controller's own record may keep: a script, never bytes of a file. */
  readonly script?: string;
};

/** The one connection to a node that a whole run uses, for several commands at once. */
export interface Session {
  readonly node: NodeName;
  /** The user that is logged in there. */
  readonly user: string;
  /** Connects when there is no connection, and sends the command once. What was lost is never sent again. */
  readonly ask: (command: SessionCommand) => Promise<SessionAnswer>;
  /** Whether the node was given up: it is asked nothing any more. */
  readonly isLost: () => boolean;
  /** Ends the connection; the next question makes a new one, as if it were the first. */
  readonly forget: () => void;
  /** Ends the connection for good; commands that run get an unknown exit. */
  readonly close: () => void;
}

/** Sends a script to root, once; it must check its lease by itself. */
export const askRoot = (
  session: Session,
  limits: Pick<ExecLimits, 'name' | 'deadlineMs' | 'maxBytes'>,
  scriptFor: (rootPrefix: string) => string,
): Promise<SessionAnswer> =>
  session.ask((rootPrefix) => {
    const script = scriptFor(rootPrefix);
    return { ...limits, command: mutatingCommand(rootPrefix), script, stdin: Buffer.from(script) };
  });

/** How a session is used. */
export interface SessionOptions extends UseLimits {
  /** Before a connection that broke off is made again; twice as long before it is tried once more. */
  readonly retryMs: number;
  /** Told before a connection that broke off is made again. */
  readonly onReconnect?: (node: NodeName, attempt: number) => void;
}

/** How often a connection is tried before a node is given up: once, and twice more after that went wrong. */
const maxAttempts = 3;

type Connected = Reached<Remote>;

interface State {
  connection: Promise<Connected> | undefined;
  /** Ends an attempt that nobody waits for any more. */
  giveUp: AbortController;
  /** Attempts since the last command whose exit is known. */
  attempts: number;
  isLost: boolean;
  isClosed: boolean;
}

/** A session that connects when it is first used. The signal does not end it: a run winds down over it. */
export function openSession({ node, way }: NodeWay, options: SessionOptions): Session {
  const state: State = {
    connection: undefined,
    giveUp: new AbortController(),
    attempts: 0,
    isLost: false,
    isClosed: false,
  };
  const connected = (): Promise<Connected> => {
    state.connection ??= attempt(state, { node, way }, options);
    return state.connection;
  };
  const end = (): void => {
    state.giveUp.abort();
    state.giveUp = new AbortController();
    void closeOnce(state.connection);
    state.connection = undefined;
  };
  /** Of a connection that is of no use any more: the next question makes another one, while it may. */
  const leave = (used: Promise<Connected>, reasons: NonEmpty<Diagnostic>): void => {
    if (state.connection !== used) return;
    state.isLost = state.attempts >= maxAttempts;
    state.connection = state.isLost ? Promise.resolve({ kind: 'unreached', diagnostics: reasons }) : undefined;
  };
  return {
    node,
    user: way.kind === 'way' ? way.target.user : '',
    ask: async (build) => {
      const used = connected();
      const made = await used;
      if (made.kind === 'unreached') {
        leave(used, made.diagnostics);
        return made;
      }
      const { command, script, ...limits } = build(made.value.rootPrefix);
      const result = await execRecorded(made.value, { node, onRemote: options.onRemote, command, script }, limits);
      if (isBroken(result)) leave(used, [givenUp(node)]);
      else state.attempts = 1;
      return { kind: 'ended', result, rootPrefix: made.value.rootPrefix };
    },
    isLost: () => state.isLost,
    forget: () => {
      end();
      state.isLost = false;
      state.attempts = 0;
    },
    close: () => {
      state.isClosed = true;
      end();
    },
  };
}

async function attempt(state: State, { node, way }: NodeWay, options: SessionOptions): Promise<Connected> {
  if (state.isClosed) return { kind: 'unreached', diagnostics: [interruption(node)] };
  const { signal } = state.giveUp;
  const retries = state.attempts;
  state.attempts += 1;
  if (retries > 0) {
    options.onReconnect?.(node, retries);
    await pause(options.retryMs * retries, signal);
  }
  const { deadlineMs, onRemote } = options;
  return connectOnce(way, { deadlineMs, signal, ...given({ onRemote }) });
}

const isBroken = ({ exit }: ExecResult): boolean => exit.kind === 'unknown' && exit.why === 'dropped';

const givenUp = (node: NodeName): Diagnostic =>
  diagnose('ssh/dropped', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}the connection broke off ${maxAttempts} times in a row; it was not made again.`,
  });

async function closeOnce(connection: Promise<Connected> | undefined): Promise<void> {
  const made = await connection;
  if (made?.kind === 'reached') made.value.close();
}

async function connectOnce(way: Way, limits: ConnectLimits): Promise<Connected> {
  if (way.kind === 'no-way') return { kind: 'unreached', diagnostics: way.diagnostics };
  try {
    return { kind: 'reached', value: await connect(way.target, way.trust, limits) };
  } catch (error) {
    if (error instanceof FleetError) return { kind: 'unreached', diagnostics: error.diagnostics };
    throw error;
  }
}
