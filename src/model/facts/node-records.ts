/**
 * What became of a start by the time its rank was stopped: `served` gave a token, `hung` gave none though it had come up,
 * `failed` never came up.
 */
export type StartOutcome = 'served' | 'hung' | 'failed';

/** Why a node needs a restart before any rank may be started there, as the stop of one has found. */
export interface RebootMark {
  /** The placement whose rank was stopped. */
  readonly placement: string;
  /** `memory`: more stayed wired than before any rank ran. `kernel`: not even KILL has ended its processes. */
  readonly why: 'memory' | 'kernel';
  /** For `memory`: what was wired after the stop, and before the first start of the boot session. */
  readonly wiredBytes?: number;
  readonly baselineBytes?: number;
}

/**
 * One job of ours that is kept on the node under its key. Fields: `name`, `state` (`running`, `ended`, `gone`: without
 * process and without exit), `exit`, `boot`, `done` and `total` (bytes), `failure` (a slug and its text).
 */
export interface NodeJob {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** That a node is to be left alone, as `hold` has written it down there. */
export interface NodeHold {
  /** Why; one line. */
  readonly reason: string;
  /** The last day of it, as `2026-12-01`, in UTC; without it until somebody releases the node. */
  readonly until?: string;
  /** Who: `ana@laptop`. */
  readonly by: string;
  /** Since which day. */
  readonly since: string;
  /** The last day of it was over when it was looked at. */
  readonly isOver: boolean;
}

/**
 * A change of the network that nobody has confirmed. `pending` waits for its time to be over, `rolling` is being taken
 * back. Fields: `run`, `token`, `step`, `verb`, `by`, `boot`, `since` (seconds of the epoch), `seconds`, …
 */
export interface NodeRollback {
  readonly state: 'pending' | 'rolling';
  readonly fields: Readonly<Record<string, string>>;
}

/** How many reports of kernel panics are looked into: the last full ones, and as many of other kinds. */
export const mostPanicReports = 4;

/** One value as it was before the first change; without a text when it could not be read then. */
export interface BaselineRecord {
  /** The name of its file. */
  readonly key: string;
  readonly text?: string;
}

/** A network daemon of somebody else that meshwright stopped. */
export interface StoppedDaemon {
  readonly label: string;
  readonly wasLoaded: boolean;
  /** Whether its plist was moved into our folder. */
  readonly isMoved: boolean;
}

/** What of meshwright lies on a node beside services, files and trees that other facts know. */
export interface Traces {
  /** Our folder, with all that runs keep in it. */
  readonly hasFolder: boolean;
  /** The folder of trees; `models` when nothing but models is left in it, `theirs` when nothing in those is of ours. */
  readonly trees: 'none' | 'theirs' | 'models' | 'some';
  /** The line of sudoers that enroll installed. */
  readonly hasSudoers: boolean;
  /** The key that enroll installed for the account of this observation. */
  readonly hasKey: boolean;
}

/** What a node was like before the first change, as far as it was written down. */
export interface Baseline {
  /** In the order in which they are set back, without those that are never compared. */
  readonly values: readonly BaselineRecord[];
  readonly daemons: readonly StoppedDaemon[];
}
