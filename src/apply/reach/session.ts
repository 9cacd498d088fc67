import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, type NonEmpty } from '../../diagnostics/diagnostic.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { connect } from '../../remote/connect.ts';
import type { HostKeyTrust } from '../../remote/keys/host-key-trust.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import { onAbort } from '../../remote/on-abort.ts';
import type { ConnectLimits, ExecLimits, ExecResult, Remote, Target } from '../../remote/remote.ts';
import { pause } from '../run-timing.ts';

/** A login that is made on first use and shared, so that a password is sent only once. A failed one is not retried. */
export function sharedLogin(make: LogIn) {
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
    logIn: async (...to: Parameters<LogIn>): Promise<Remote> => {
      const isFirst = making === undefined;
      making ??= first(...to);
      const remote = await making;
      return {
        rootPrefix: remote.rootPrefix,
        connectMs: isFirst ? remote.connectMs : 0,
        close: () => undefined,
        exec: (command, bounds) => remote.exec(command, bounds),
      };
    },
    /** Closes the connection, if any. Only for the owner. */
    end: (): void => {
      isEnded = true;
      made?.close();
    },
  };
}

/** An SSH target with its trusted host keys, or the reasons why there is none. */
export type SshTarget = OpenTarget | { readonly kind: 'no-way'; readonly diagnostics: NonEmpty<Diagnostic> };

export interface OpenTarget {
  readonly kind: 'way';
  readonly target: Target;
  readonly trust: HostKeyTrust;
}

export interface NodeTarget {
  readonly node: NodeName;
  readonly way: SshTarget;
}

/** Limits per node; connection, login and commands share `deadlineMs`. On abort, the connection closes immediately. */
export type UseLimits = Pick<ConnectLimits, 'deadlineMs' | 'firstByteMs' | 'signal' | 'onRemote'>;

/** The value returned by the body, or the reasons why the node was not reached. */
export type Reached<T> =
  | { readonly kind: 'reached'; readonly value: T }
  | { readonly kind: 'unreached'; readonly diagnostics: NonEmpty<Diagnostic> };

export type LogIn = (way: OpenTarget, limits: ConnectLimits) => Promise<Remote>;

const byKey: LogIn = ({ target, trust }, limits) => connect(target, trust, limits);

/** Calls `body` with a connection and its remaining time in ms, then closes the connection. Rejects only for a bug. */
export async function withRemote<T>(
  { node, way }: NodeTarget,
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
      return { kind: 'reached', value: await body(remote, leftMs) };
    } finally {
      forget();
      remote.close();
    }
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    // An interrupted attempt is not evidence about the node.
    const isOurDoing = limits.signal?.aborted === true;
    return { kind: 'unreached', diagnostics: isOurDoing ? [interruption(node)] : error.diagnostics };
  }
}

/** The diagnostic for a node that was not asked, or did not answer, before the run was interrupted. */
export const interruption = (node: string): Diagnostic =>
  diagnose('run/interrupted', {
    subject: nodeSubject(node),
    detail: prose`The run was interrupted before ${named(node)} answered.`,
  });

/** The result of one command on one node, or the reason why it was not sent. */
export type CommandOutcome =
  | { readonly kind: 'ended'; readonly node: NodeName; readonly result: ExecResult }
  | { readonly kind: 'unreached'; readonly node: NodeName; readonly diagnostics: readonly Diagnostic[] };

interface CommandOptions extends UseLimits {
  readonly parallel: number;
  readonly maxBytes: number;
  /** Called when each node finishes, in that order. */
  readonly onOutcome?: (outcome: CommandOutcome) => void;
}

export type CommandFor = (
  node: NodeName,
  rootPrefix: string,
) => Pick<ExecLimits, 'name' | 'stdin' | 'script'> & { readonly command: string };

/** Runs one command line on many nodes in parallel. Never sends it twice, because it may not be idempotent. */
export async function runCommand(
  ways: readonly NodeTarget[],
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

/** The result of a request to a node over its session. */
export type SessionAnswer =
  /** The command was sent; its exit status can be unknown. */
  | { readonly kind: 'ended'; readonly result: ExecResult; readonly hostKey?: HostKey }
  /** Nothing was sent. */
  | { readonly kind: 'unreached'; readonly diagnostics: NonEmpty<Diagnostic> };

type SessionCommand = (rootPrefix: string) => ExecLimits & { readonly command: string };

/** A run's connection to a node, which can be used for several commands in parallel. */
export type Session = ReturnType<typeof openSession>;

/** The command that runs a script as root. The script must check its own lease. */
export const rootScript =
  (
    limits: Pick<ExecLimits, 'name' | 'deadlineMs' | 'maxBytes'>,
    scriptFor: (rootPrefix: string) => string,
  ): SessionCommand =>
  (rootPrefix) => {
    const script = scriptFor(rootPrefix);
    return { ...limits, command: mutatingCommand(rootPrefix), script, stdin: Buffer.from(script) };
  };

export interface SessionOptions extends UseLimits {
  /** The pause before reconnecting; doubled before each further attempt. */
  readonly retryMs: number;
  readonly onReconnect?: (node: NodeName, attempt: number) => void;
}

/** The number of connection attempts before a node is given up. */
const maxAttempts = 3;

type Connected = Reached<Remote>;

interface State {
  connection: Promise<Connected> | undefined;
  /** Cancels a connection attempt. */
  giveUp: AbortController;
  /** Attempts since the last command whose exit is known. */
  attempts: number;
  isLost: boolean;
  isClosed: boolean;
}

/** A session that connects on first use. The signal does not close it, because a run winds down over it. */
export function openSession({ node, way }: NodeTarget, options: SessionOptions) {
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
  /** Drops a broken connection. The next command opens a new one unless the node is given up. */
  const leave = (used: Promise<Connected>, reasons: NonEmpty<Diagnostic>): void => {
    if (state.connection !== used) return;
    state.isLost = state.attempts >= maxAttempts;
    state.connection = state.isLost ? Promise.resolve({ kind: 'unreached', diagnostics: reasons }) : undefined;
  };
  return {
    node,
    user: way.kind === 'way' ? way.target.user : '',
    /** Connects if necessary and sends the command once. Never resends a lost command. */
    ask: async (build: SessionCommand): Promise<SessionAnswer> => {
      const used = connected();
      const made = await used;
      if (made.kind === 'unreached') {
        leave(used, made.diagnostics);
        return made;
      }
      const { command, ...limits } = build(made.value.rootPrefix);
      const result = await made.value.exec(command, limits);
      if (isBroken(result)) leave(used, [givenUp(node)]);
      else state.attempts = 1;
      return { kind: 'ended', result, ...given({ hostKey: made.value.hostKey }) };
    },
    /** True if the node was given up and receives no more commands. */
    isLost: (): boolean => state.isLost,
    /** Closes the connection; the next request opens a new one. */
    forget: (): void => {
      end();
      state.isLost = false;
      state.attempts = 0;
    },
    /** Closes the connection for good; the exit status of running commands is then unknown. */
    close: (): void => {
      state.isClosed = true;
      end();
    },
  };
}

async function attempt(state: State, { node, way }: NodeTarget, options: SessionOptions): Promise<Connected> {
  if (state.isClosed) return { kind: 'unreached', diagnostics: [interruption(node)] };
  const { signal } = state.giveUp;
  const retries = state.attempts;
  state.attempts += 1;
  if (retries > 0) {
    options.onReconnect?.(node, retries);
    await pause(options.retryMs * retries, signal);
  }
  if (way.kind === 'no-way') return { kind: 'unreached', diagnostics: way.diagnostics };
  const { deadlineMs, onRemote } = options;
  try {
    return {
      kind: 'reached',
      value: await connect(way.target, way.trust, { deadlineMs, signal, ...given({ onRemote }) }),
    };
  } catch (error) {
    if (error instanceof FleetError) return { kind: 'unreached', diagnostics: error.diagnostics };
    throw error;
  }
}

/** True if the connection was lost while a command was running. */
export const isBroken = ({ exit }: ExecResult): boolean => exit.kind === 'unknown' && exit.why === 'dropped';

const givenUp = (node: NodeName): Diagnostic =>
  diagnose('ssh/dropped', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}lost the connection ${maxAttempts} times in a row and gave up.`,
  });

async function closeOnce(connection: Promise<Connected> | undefined): Promise<void> {
  const made = await connection;
  if (made?.kind === 'reached') made.value.close();
}
