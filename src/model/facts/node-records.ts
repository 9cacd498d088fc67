import type {
  FactsBaseline,
  FactsHold,
  FactsJobs,
  FactsRebootMark,
  FactsTraces,
  FactsTransactions,
} from '../documents.generated.ts';
import type { ItemOf } from '../given.ts';

/** How a start ended. `served`: a token came; `hung`: it came up without a token; `failed`: it never came up. */
export type StartOutcome = 'served' | 'hung' | 'failed';

/**
 * Why a node needs a restart before its next start, as found when a rank was stopped. `memory`: more memory stayed
 * wired than before any rank ran. `kernel`: processes survived SIGKILL.
 */
export type RebootMark = ItemOf<FactsRebootMark>;

/**
 * One of our jobs, stored on the node by its key. Fields: `name`, `state` (`running`, `ended`, or `gone`: neither a
 * process nor an exit code), `exit`, `boot`, `done` and `total` (bytes), `failure` (a slug and its text).
 */
export type NodeJob = ItemOf<FactsJobs>;

/** A hold, as stored on the node. `by` reads `ana@laptop`; without a last day, the hold lasts until `release`. */
export type NodeHold = ItemOf<FactsHold>;

/**
 * An unconfirmed network change. `pending`: waiting for confirmation; `rolling`: being rolled back. Fields: `run`,
 * `token`, `step`, `verb`, `by`, `boot`, `since` (seconds since 1970), `seconds`, …
 */
export type NodeTransaction = ItemOf<FactsTransactions>;

/** Maximum number of kernel panic reports to read: this many full ones, and this many of other kinds. */
export const mostPanicReports = 4;

/** One value from before the first change, in a file named after its key; without a text if it could not be read. */
export type BaselineRecord = Baseline['values'][number];

/** A foreign network daemon that meshwright stopped. */
export type StoppedDaemon = Baseline['daemons'][number];

/** What meshwright stores on a node, except the services, files and trees in other facts. */
export type Traces = FactsTraces;

/** A node's recorded state before the first change, in restore order and without values that are never compared. */
export type Baseline = FactsBaseline;
