import type { Exit } from '../../model/probe.ts';

/** An effect on a node that the node's answers do not show. */
export type EffectAct =
  /** A command line that changes something, with its exit code. */
  | { readonly kind: 'write'; readonly tool: string; readonly args: readonly string[]; readonly exitCode: number }
  /** A request to launchd with its exit code, including stops of jobs. */
  | { readonly kind: 'launchctl'; readonly args: readonly string[]; readonly exitCode: number }
  | { readonly kind: 'kill'; readonly signal: string; readonly targets: readonly string[] }
  | { readonly kind: 'delete'; readonly paths: readonly string[] }
  /** A request to shut the Mac down, even if the Mac was already shutting down. */
  | { readonly kind: 'reboot' | 'power-off'; readonly by: 'shutdown' | 'hands' }
  | { readonly kind: 'boot' };

/** An effect with its place and time. */
export type RecordedEffect = EffectAct & {
  readonly node: string;
  readonly atEpochMs: number;
  /** Number of the node's boot session, from 0; for a boot, the new one. */
  readonly boot: number;
};

/** One complete command that a node received. It shows tests and people what the product really sent. */
export interface ExecRecord {
  readonly node: string;
  readonly command: string;
  readonly atEpochMs: number;
  /** The client's software version, such as `OpenSSH_9.2p1`. */
  readonly client: string;
  /** Number of the connection on this node, from 1. */
  readonly connection: number;
  /** Absent while it is running. */
  readonly exit?: Exit;
  readonly outputBytes: number;
  /** The strict shell's objections; empty if it had none. */
  readonly objections: readonly string[];
}

/** Exact counts for one node since the fleet started, with the initial values. */
const noCounts = {
  connections: 0,
  authAttempts: 0,
  /** Passwords sent to the sshd before FileVault, and those that came too soon after the previous one. */
  prebootPasswords: 0,
  hastyPasswords: 0,
  channels: 0,
  execs: 0,
  /** Bytes on the wire of closed connections, from the node's side. */
  receivedBytes: 0,
  sentBytes: 0,
};

/** Maximum number of commands recorded per node; the counts continue beyond that. */
const maxExecRecords = 1_000;

export function createRecords() {
  let counts: Readonly<typeof noCounts> = noCounts;
  const execs: { current: ExecRecord }[] = [];
  return {
    count: (what: keyof typeof noCounts, by = 1): void => {
      counts = { ...counts, [what]: counts[what] + by };
    },
    counts: () => counts,
    /** Opens a record; the returned function changes it while the command is running. */
    open: (record: ExecRecord): ((change: Partial<ExecRecord>) => void) => {
      const entry = { current: record };
      execs.push(entry);
      if (execs.length > maxExecRecords) execs.shift();
      return (change) => {
        entry.current = { ...entry.current, ...change };
      };
    },
    /** The newest commands, oldest first (max 1,000). */
    execs: (): readonly ExecRecord[] => execs.map((entry) => entry.current),
  };
}

export type NodeRecords = ReturnType<typeof createRecords>;
