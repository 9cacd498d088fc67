import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, type NonEmpty } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, prose } from '../../model/text/prose.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { connect } from '../../remote/connect.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import type { ConnectLimits, ExecLimits, ExecResult, Remote } from '../../remote/remote.ts';
import { pause } from '../run-timing.ts';
import {
  execRecorded,
  interruption,
  type NodeWay,
  type Reached,
  type UseLimits,
  type Way,
  withRemote,
} from './with-remote.ts';

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
export type SessionCommand = (rootPrefix: string) => ExecLimits & {
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
