/**
 * The result of a start when its rank was stopped: `served` gave a token, `hung` came up without one, `failed` never
 * came up.
 */
export type StartOutcome = 'served' | 'hung' | 'failed';

/** Why a node needs a restart before its next start, as found when a rank was stopped. */
export interface RebootMark {
  /** The placement whose rank was stopped. */
  readonly placement: string;
  /** `memory`: more memory stayed wired than before any rank ran. `kernel`: processes survived KILL. */
  readonly why: 'memory' | 'kernel';
  /** For `memory`: wired bytes after the stop, and before the boot session's first start. */
  readonly wiredBytes?: number;
  readonly baselineBytes?: number;
}

/**
 * One of our jobs, stored on the node by its key. Fields: `name`, `state` (`running`, `ended`, `gone`: without
 * process and without exit), `exit`, `boot`, `done` and `total` (bytes), `failure` (a slug and its text).
 */
export interface NodeJob {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A hold, as stored on the node. */
export interface NodeHold {
  /** One line. */
  readonly reason: string;
  /** The last day in UTC, such as `2026-12-01`; absent: until `release`. */
  readonly until?: string;
  /** `ana@laptop`. */
  readonly by: string;
  /** The first day. */
  readonly since: string;
  /** Whether the last day was over at the observation. */
  readonly isOver: boolean;
}

/**
 * An unconfirmed network change. `pending`: waits for its confirmation; `rolling`: is being rolled back. Fields: `run`,
 * `token`, `step`, `verb`, `by`, `boot`, `since` (seconds of the epoch), `seconds`, …
 */
export interface NodeRollback {
  readonly state: 'pending' | 'rolling';
  readonly fields: Readonly<Record<string, string>>;
}

/** How many kernel panic reports are read: the last full ones, and as many of other kinds. */
export const mostPanicReports = 4;

/** One value from before the first change; without a text if it could not be read then. */
export interface BaselineRecord {
  /** The name of its file. */
  readonly key: string;
  readonly text?: string;
}

/** A foreign network daemon that meshwright stopped. */
export interface StoppedDaemon {
  readonly label: string;
  readonly wasLoaded: boolean;
  /** Whether its plist was moved into our folder. */
  readonly isMoved: boolean;
}

/** What meshwright stores on a node, except the services, files and trees in other facts. */
export interface Traces {
  /** Our folder with the data of runs. */
  readonly hasFolder: boolean;
  /** The folder of trees: `models` if it contains only models, `theirs` if none of those is ours. */
  readonly trees: 'none' | 'theirs' | 'models' | 'some';
  /** The line of sudoers that enroll installed. */
  readonly hasSudoers: boolean;
  /** The key that enroll installed for the account of this observation. */
  readonly hasKey: boolean;
}

/** A node's recorded state before the first change. */
export interface Baseline {
  /** In restore order, without values that are never compared. */
  readonly values: readonly BaselineRecord[];
  readonly daemons: readonly StoppedDaemon[];
}
