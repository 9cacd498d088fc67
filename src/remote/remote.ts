import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import type { Exit } from '../model/probe.ts';
import { nodeSubject } from '../model/subject.ts';
import { labelled, prose } from '../model/text/prose.ts';
import type { ScriptEnd } from '../node/root-script.ts';
import type { LookUp } from './look-up-name.ts';

/** An exit with an unknown status. */
export type UnknownExit = Extract<Exit, { kind: 'unknown' }>;

const unknown = (why: NonNullable<UnknownExit['why']>, reason: string): UnknownExit => ({
  kind: 'unknown',
  why,
  reason,
});

/** All reasons for an unknown exit; {@link diagnoseExit} converts them into diagnostics. */
export const unknownExit = {
  /** The connection was lost. */
  dropped: (why: string) => unknown('dropped', `the connection was lost while the command ran (${why})`),
  late: (deadlineMs: number) => unknown('late', `the command did not finish within ${deadlineMs / 1000} s`),
  /** The caller aborted the command. */
  ended: unknown('closed', 'meshwright stopped the command'),
  tooLong: (maxBytes: number) => unknown('too-long', `the command printed more than ${maxBytes} bytes and was stopped`),
  noCode: unknown('no-code', 'the node closed the channel without an exit code'),
  /** The command never ran. */
  noChannel: unknown('no-channel', 'the node refused to run a command'),
  /** The controller could not read the command's input, so it abandoned the command. */
  noInput: unknown('closed', 'the input of the command could not be read completely'),
  closed: unknown('closed', 'meshwright closed the connection'),
} as const;

/** The diagnostic for an unknown exit status; undefined for a known one. */
export function diagnoseExit(label: string, exit: Exit): Diagnostic | undefined {
  if (exit.kind !== 'unknown') return undefined;
  const fields = { detail: prose`${labelled(label)}${exit.reason}.`, subject: nodeSubject(label) };
  if (exit.why === 'dropped') return diagnose('ssh/dropped', fields);
  return diagnose(exit.why === 'late' ? 'ssh/timed-out' : 'ssh/exit-unknown', fields);
}
const hostName = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\.?$/;
const ipv6 = /^[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?$/;
/** sudo reads a name of only capitals, digits and `_` as an alias. @see sudoers(5), Aliases */
const userName = /^(?![A-Z][A-Z0-9_]*$)[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;

/** Whether a text is a valid host: a name or an IP address, never an option or a shell word. */
export const isHost = (text: string): boolean => text.length <= 253 && (hostName.test(text) || ipv6.test(text));

export const isUser = (text: string): boolean => userName.test(text);

export const isTcpPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

/** The name of an address in known_hosts and `cluster.lock`: `host` or `[host]:port`, in lower case as in OpenSSH. */
export function lookupName(host: string, port: number): string {
  const name = host.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
}

/** An event on a connection to a node. `node` is the node's name, or its address if there is no cluster file yet. */
export type RemoteEvent = { readonly node: string } & (
  | { readonly kind: 'connecting'; readonly address: string }
  /** `verdict` is the kind of a HostKeyVerdict; an unreadable key has no fingerprint. */
  | { readonly kind: 'host-key'; readonly verdict: string; readonly fingerprint?: string }
  | { readonly kind: 'connected' }
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /** A command is about to be sent. `script` is set only if the command's input is a script. */
  | { readonly kind: 'sent'; readonly name: string; readonly command: string; readonly script?: string }
  | { readonly kind: 'answered'; readonly name: string; readonly exit: Exit; readonly ms: number }
);

/** Listens to events of connections and commands. If the listener throws at `sent`, that command is not sent. */
export type RemoteListener = (event: RemoteEvent) => void;

/** The name and limits of one command. The controller enforces the limits, whatever the node does. */
export interface ExecLimits {
  /** The command's name in the event log, such as `observe` or `set-power`. */
  readonly name: string;
  /** Milliseconds from request to close of the channel; then it is abandoned, and the exit is unknown. */
  readonly deadlineMs: number;
  /**
   * Whether {@link deadlineMs} counts from the last byte in either direction, for commands without a fixed duration.
   */
  readonly isDeadlineIdle?: boolean;
  /** On abort, the command gets TERM, its channel is closed, and its exit is unknown. */
  readonly signal?: AbortSignal;
  /** Limit for stdout and stderr together; one more byte stops the command with `isTruncated`. */
  readonly maxBytes: number;
  /** The whole input, or pieces, which are read as fast as the node accepts them and must not change afterwards. */
  readonly stdin?: Uint8Array | AsyncIterable<Uint8Array>;
  /** The part of the input that may be recorded on the controller: a script, never file contents. */
  readonly script?: string;
  /** Receives each piece of output as it arrives. The result also contains the whole output. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', piece: Uint8Array) => void;
}

export interface ExecResult {
  readonly exit: Exit;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly isTruncated: boolean;
  readonly sentAtEpochMs: number;
  readonly receivedAtEpochMs: number;
}

export const printedText = ({ exit, stdout, stderr }: ExecResult): ScriptEnd => {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
  return { exit, stdout: text(stdout), stderr: text(stderr) };
};

/** An authenticated connection to one node whose host key was verified. */
export interface Remote {
  /** Prefix of every node path: empty on a Mac, the node's folder in the portable simulator. */
  readonly rootPrefix: string;
  /** Milliseconds from the start of the name lookup to the end of the login. */
  readonly connectMs: number;
  /** The host key that the node showed. */
  readonly hostKey?: HostKey;
  /** Runs one command line in the ssh user's login shell. Never rejects because of the node. */
  exec(command: string, limits: ExecLimits): Promise<ExecResult>;
  /** Closes the connection immediately; running commands get an unknown exit. */
  close(): void;
}

/** The resolved settings for reaching a node, from the cluster file, `ssh -G` or the simulator. */
export interface Target {
  /** The node's name, or its address if there is no cluster file yet. */
  readonly label: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly rootPrefix: string;
  /** Key files to offer, in this order before the agent's keys. Absolute paths on the controller. */
  readonly identityFiles: readonly string[];
  /** Whether the agent may sign only for keys in {@link identityFiles}, like ssh's IdentitiesOnly. */
  readonly isIdentitiesOnly?: boolean;
  /** Socket of an ssh agent; absent: no agent is used. */
  readonly agentSocket?: string;
  /** Looks up the host key by this name instead of host and port, like ssh's HostKeyAlias. */
  readonly hostKeyAlias?: string;
}

/** Limits of a connection attempt and of silence afterwards. */
export interface ConnectLimits {
  /** Milliseconds from the resolved address to the end of authentication. The name lookup has the same limit again. */
  readonly deadlineMs: number;
  /**
   * Milliseconds until the node's first byte, if shorter. A Mac that is off never sends a byte, while a login may wait
   * for a person or a slow agent. The name lookup has the same limit again.
   */
  readonly firstByteMs?: number;
  /** Milliseconds between keepalive requests (default 5,000). After three unanswered ones the connection is dropped. */
  readonly keepaliveMs?: number;
  /** On abort, a running attempt stops immediately. */
  readonly signal?: AbortSignal;
  /** Name lookup (default: the system's). IP addresses are never looked up. */
  readonly lookUp?: LookUp;
  readonly onRemote?: RemoteListener;
}
