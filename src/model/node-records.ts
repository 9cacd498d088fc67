/** The last start of a member over RDMA. */
export interface RdmaStart {
  readonly placement: string;
  /** The boot session in which it was. */
  readonly startedIn: string;
  /** The last line of its log since then that speaks of the verbs library. */
  readonly complaint?: string;
}

/** Starts of ranks over RDMA on one node, over all placements, those included that are gone. */
export interface RdmaStarts {
  /** The boot session that they are counted in; empty before the first one. */
  readonly startedIn: string;
  readonly starts: number;
  /** Of the members that are there. */
  readonly last: readonly RdmaStart[];
}

/**
 * One job of ours that is kept on the node under its key. Fields: `name`, `state` (`running`, `ended`, `gone`: without
 * process and without exit), `exit`, `boot`, `done` and `total` (bytes), `failure` (a slug and its text).
 */
export interface NodeJob {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The lease that a run holds on the node, or held when it died. Fields: `run`, `token`, `owner`, `verb`, `beat`, … */
export interface NodeLease {
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * A change of the network that nobody has confirmed. `pending` waits for its time to be over, `rolling` is being taken
 * back. Fields: `run`, `token`, `step`, `verb`, `by`, `boot`, `since` (seconds of the epoch), `seconds`, …
 */
export interface NodeRollback {
  readonly state: 'pending' | 'rolling';
  readonly fields: Readonly<Record<string, string>>;
}
