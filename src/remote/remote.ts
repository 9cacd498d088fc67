import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Exit } from '../model/probe.ts';
import { nodeSubject } from '../model/subject.ts';
import { labelled, prose } from '../model/text/prose.ts';
import type { ScriptEnd } from '../node/root-script.ts';
import type { LookUp } from './look-up-name.ts';

/** An exit that nobody knows. */
export type UnknownExit = Extract<Exit, { kind: 'unknown' }>;

const unknown = (why: NonNullable<UnknownExit['why']>, reason: string): UnknownExit => ({
  kind: 'unknown',
  why,
  reason,
});

/** Every way in which the exit of a command can be unknown; {@link diagnoseExit} says what it means. */
export const unknownExit = {
  /** The connection is gone. */
  dropped: (why: string) => unknown('dropped', `the connection broke off while the command ran (${why})`),
  /** The deadline of the command passed. */
  late: (deadlineMs: number) => unknown('late', `the command did not end within ${deadlineMs / 1000} s`),
  /** Whoever asked for the command wants no answer any more. */
  ended: unknown('closed', 'the command was ended by meshwright'),
  /** The node printed more than was allowed, and the command was ended. */
  tooLong: (maxBytes: number) => unknown('too-long', `it printed more than ${maxBytes} bytes and was ended`),
  /** The channel was closed without an exit code. */
  noCode: unknown('no-code', 'the node closed the channel without an exit code'),
  /** The node opened no channel, so the command never ran. */
  noChannel: unknown('no-channel', 'the node refused to run a command'),
  /** Its input ended with an error of the controller, so that it was abandoned. */
  noInput: unknown('closed', 'its input could not be read to the end'),
  /** We closed the connection ourselves. */
  closed: unknown('closed', 'the connection was closed by meshwright'),
} as const;

/** Says what an unknown exit means; undefined for an exit that is known. */
export function diagnoseExit(label: string, exit: Exit): Diagnostic | undefined {
  if (exit.kind !== 'unknown') return undefined;
  const fields = { detail: prose`${labelled(label)}${exit.reason}.`, subject: nodeSubject(label) };
  if (exit.why === 'dropped') return diagnose('ssh/dropped', fields);
  return diagnose(exit.why === 'late' ? 'ssh/timed-out' : 'ssh/exit-unknown', fields);
}
const hostName = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\.?$/;
const ipv6 = /^[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?$/;
/** sudo reads a name of capitals, digits and `_` alone as a list of accounts. @see sudoers(5), Aliases */
const userName = /^(?![A-Z][A-Z0-9_]*$)[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;

/** Whether a text can be the host of a node: a name or an IP address, never an option or a shell word. */
export const isHost = (text: string): boolean => text.length <= 253 && (hostName.test(text) || ipv6.test(text));

/** Whether a text can be a user of a node. */
export const isUser = (text: string): boolean => userName.test(text);

/** Whether a number can be the TCP port of sshd. */
export const isTcpPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

/**
 * The name under which known_hosts and `cluster.lock` keep the keys of an address: `host` for port 22, else
 * `[host]:port`; the host in lower case, as OpenSSH looks it up.
 */
export function lookupName(host: string, port: number): string {
  const name = host.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
}

/** What happens between this computer and a node, as it happens. `node` is its name, or its address before there is a file. */
export type RemoteEvent = { readonly node: string } & (
  | { readonly kind: 'connecting'; readonly address: string }
  /** `verdict` is the kind of a HostKeyVerdict; an unreadable key has no fingerprint. */
  | { readonly kind: 'host-key'; readonly verdict: string; readonly fingerprint?: string }
  | { readonly kind: 'connected' }
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /** A command is about to leave, with the script on its input, never with other bytes there. */
  | { readonly kind: 'sent'; readonly name: string; readonly command: string; readonly script?: string }
  | { readonly kind: 'answered'; readonly name: string; readonly exit: Exit; readonly ms: number }
);

/** Listens to connections and commands. What it throws at `sent` keeps that command from leaving. */
export type RemoteListener = (event: RemoteEvent) => void;

/** One command on a node: its name, and bounds that are kept by the controller, whatever the node does. */
export interface ExecLimits {
  /** What the log calls the command, such as `observe` or `set-power`. */
  readonly name: string;
  /** From the request of the channel to its close; then the channel is abandoned and the exit is unknown. */
  readonly deadlineMs: number;
  /** Counts {@link deadlineMs} from the last byte that moved in either direction, for what takes as long as it takes. */
  readonly isDeadlineIdle?: boolean;
  /** When aborted, the command is sent TERM and its channel closed; the exit is unknown. */
  readonly signal?: AbortSignal;
  /** Of stdout and stderr together; one byte more ends the command with `isTruncated`. */
  readonly maxBytes: number;
  /** Whole, or in pieces that are asked for as the node reads them; a piece must stay as it is once it was given. */
  readonly stdin?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Told of each piece of output as it arrives, for whoever cannot wait for the end; the result has all of it too. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', piece: Uint8Array) => void;
}

/** What a command on a node gave. */
export interface ExecResult {
  readonly exit: Exit;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly isTruncated: boolean;
  readonly sentAtEpochMs: number;
  readonly receivedAtEpochMs: number;
}

/** The same with what it printed as text. */
export const printedText = ({ exit, stdout, stderr }: ExecResult): ScriptEnd => {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
  return { exit, stdout: text(stdout), stderr: text(stderr) };
};

/** An authenticated connection to one node whose host key has been verified. */
export interface Remote {
  /** Put before every node path: empty on a Mac, the node's folder in the portable simulator. */
  readonly rootPrefix: string;
  /** Milliseconds from the name of the node being looked up to the end of the login. */
  readonly connectMs: number;
  /** Runs one command line in the login shell of the ssh user. Never rejects for what the node does. */
  exec(command: string, limits: ExecLimits): Promise<ExecResult>;
  /** Ends the connection at once; commands still running get an unknown exit. */
  close(): void;
}

/** Where a node is reached, after the cluster file, `ssh -G` or the simulator have been asked. */
export interface Target {
  /** What people call it: the node's name, or the address before there is a file. */
  readonly label: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly rootPrefix: string;
  /** Key files to offer, in order; then the agent. Absolute paths on the controller. */
  readonly identityFiles: readonly string[];
  /** True when the agent may sign only for the keys named in {@link identityFiles}, as ssh's IdentitiesOnly. */
  readonly isIdentitiesOnly?: boolean;
  /** Socket of an ssh agent; absent when none is to be asked. */
  readonly agentSocket?: string;
  /** Name to look the host key up by instead of host and port, as ssh's HostKeyAlias. */
  readonly hostKeyAlias?: string;
}

/** Bounds of a connection attempt and of what may go silent afterwards. */
export interface ConnectLimits {
  /** From the address being known to the end of authentication. Looking its name up has as long again. */
  readonly deadlineMs: number;
  /**
   * Until the node sends its first byte, where that is less: a Mac that is off never does, and a login that waits for a
   * person or a slow agent comes later. Looking its name up has as long again.
   */
  readonly firstByteMs?: number;
  /** Between two signs of life asked of the node; 5 s unless given. After three unanswered ones it is dropped. */
  readonly keepaliveMs?: number;
  /** When aborted, an attempt that is still going on is ended at once. */
  readonly signal?: AbortSignal;
  /** How names are looked up; as the system does it unless given. IP addresses are never looked up. */
  readonly lookUp?: LookUp;
  readonly onRemote?: RemoteListener;
}
