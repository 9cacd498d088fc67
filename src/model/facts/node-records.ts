import type {
  FactsBaseline,
  FactsHold,
  FactsJobs,
  FactsRebootMark,
  FactsRollbacks,
  FactsTraces,
} from '../documents.generated.ts';
import type { ItemOf } from '../given.ts';

/**
 * The result of a start when its rank was stopped: `served` gave a token, `hung` came up without one, `failed` never
 * came up.
 */
export type StartOutcome = 'served' | 'hung' | 'failed';

/**
 * Why a node needs a restart before its next start, as found when a rank was stopped. `memory`: more memory stayed wired
 * than before any rank ran. `kernel`: processes survived KILL.
 */
export type RebootMark = ItemOf<FactsRebootMark>;

/**
 * One of our jobs, stored on the node by its key. Fields: `name`, `state` (`running`, `ended`, `gone`: without
 * process and without exit), `exit`, `boot`, `done` and `total` (bytes), `failure` (a slug and its text).
 */
export type NodeJob = ItemOf<FactsJobs>;

/** A hold, as stored on the node, by `ana@laptop`; without a last day until `release`. */
export type NodeHold = ItemOf<FactsHold>;

/**
 * An unconfirmed network change. `pending`: waits for its confirmation; `rolling`: is being rolled back. Fields: `run`,
 * `token`, `step`, `verb`, `by`, `boot`, `since` (seconds of the epoch), `seconds`, …
 */
export type NodeRollback = ItemOf<FactsRollbacks>;

/** How many kernel panic reports are read: the last full ones, and as many of other kinds. */
export const mostPanicReports = 4;

/** One value from before the first change; without a text if it could not be read then. The key names its file. */
export type BaselineRecord = Baseline['values'][number];

/** A foreign network daemon that meshwright stopped. */
export type StoppedDaemon = Baseline['daemons'][number];

/** What meshwright stores on a node, except the services, files and trees in other facts. */
export type Traces = FactsTraces;

/** A node's recorded state before the first change: in restore order, without values that are never compared. */
export type Baseline = FactsBaseline;
