import type { Exit } from '../../model/probe.ts';

/** Something that a node did and that cannot be seen from its answers alone. */
export type EffectAct =
  /** A command line that changes something, as it was answered. */
  | { readonly kind: 'write'; readonly tool: string; readonly args: readonly string[]; readonly exitCode: number }
  /** A request to launchd, as it was answered; stops of jobs are among them. */
  | { readonly kind: 'launchctl'; readonly args: readonly string[]; readonly exitCode: number }
  /** A signal to processes. */
  | { readonly kind: 'kill'; readonly signal: string; readonly targets: readonly string[] }
  /** Files of models were deleted. */
  | { readonly kind: 'delete'; readonly paths: readonly string[] }
  /** Somebody ordered the Mac to go down; an order to one that is going down already counts as well. */
  | { readonly kind: 'reboot' | 'power-off'; readonly by: 'shutdown' | 'hands' }
  | { readonly kind: 'boot' };

/** One such thing, with where and when. */
export type Effect = EffectAct & {
  readonly node: string;
  readonly atEpochMs: number;
  /** Number of the boot session of the node, from 0; of a boot the new one. */
  readonly boot: number;
};

/** One command that a node received, whole, so that tests and people can see what the product really sent. */
export interface ExecRecord {
  readonly node: string;
  readonly command: string;
  readonly atEpochMs: number;
  /** What the client called itself, such as `OpenSSH_9.2p1`. */
  readonly client: string;
  /** Number of the connection on this node, from 1. */
  readonly connection: number;
  /** Absent while it runs. */
  readonly exit?: Exit;
  readonly outputBytes: number;
  /** Why the strict shell refused it or objected, empty when it did not. */
  readonly objections: readonly string[];
}

/** Exact counts of one node since the fleet came up. */
export interface NodeCounts {
  readonly connections: number;
  readonly authAttempts: number;
  /** Passwords that the sshd before FileVault was given, and those of them that came too soon after another. */
  readonly prebootPasswords: number;
  readonly hastyPasswords: number;
  readonly channels: number;
  readonly execs: number;
  /** Bytes on the wire of ended connections, as the node's side saw them. */
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** Counts of a node that nobody has reached yet. */
const noCounts: NodeCounts = {
  connections: 0,
  authAttempts: 0,
  prebootPasswords: 0,
  hastyPasswords: 0,
  channels: 0,
  execs: 0,
  receivedBytes: 0,
  sentBytes: 0,
};

/** How many commands per node are kept; the counts go on beyond. */
const maxExecRecords = 1_000;

/** Starts the books of one node. */
export function createRecords() {
  let counts = noCounts;
  const execs: { current: ExecRecord }[] = [];
  return {
    count: (what: keyof NodeCounts, by = 1): void => {
      counts = { ...counts, [what]: counts[what] + by };
    },
    counts: () => counts,
    /** Opens a record; the returned function changes it while the command runs. */
    open: (record: ExecRecord): ((change: Partial<ExecRecord>) => void) => {
      const entry = { current: record };
      execs.push(entry);
      if (execs.length > maxExecRecords) execs.shift();
      return (change) => {
        entry.current = { ...entry.current, ...change };
      };
    },
    /** The newest commands, oldest first; at most a thousand. */
    execs: (): readonly ExecRecord[] => execs.map((entry) => entry.current),
  };
}

/** What the server of one node writes down. */
export type NodeRecords = ReturnType<typeof createRecords>;
