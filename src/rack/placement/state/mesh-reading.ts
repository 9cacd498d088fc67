/**
 * The state machine of a placement. No state is stored: a run observes the ranks and their endpoint, and the first
 * observation of this table that applies gives the state and what an apply changes. The file wants the placement
 * `serving` or `stopped`. Orphaned ranks are removed in addition to every change except `wait`.
 *
 * - `wait`: nothing, until the unobserved can be observed.
 * - `keep`: nothing.
 * - `start`: starts every rank; no rank runs.
 * - `restart`: stops every rank, then starts every rank.
 * - `complete`: starts only the missing ranks if the runtime can do that, otherwise the same as `restart`.
 * - `create-instance`: the runtime creates its instance again while every rank runs on.
 * - `stop`: stops every rank.
 * - `stop-observed`: stops the observed ranks and waits for the others.
 */
export const meshTable = {
  'rank-unobserved': { state: 'unknown', serving: 'wait', stopped: 'stop-observed' },
  // No rank runs.
  'never-started': { state: 'not-placed', serving: 'start', stopped: 'keep' },
  'rank-exited': { state: 'dead', serving: 'start', stopped: 'keep' },
  'only-loaded': { state: 'stopped', serving: 'start', stopped: 'keep' },
  'no-process': { state: 'stopped', serving: 'start', stopped: 'keep' },
  // Some ranks run.
  'rank-missing': { state: 'partial', serving: 'complete', stopped: 'stop' },
  // All ranks run.
  'mixed-starts': { state: 'changed', serving: 'restart', stopped: 'stop' },
  'old-settings': { state: 'changed', serving: 'restart', stopped: 'stop' },
  'tcp-not-rdma': { state: 'changed', serving: 'restart', stopped: 'stop' },
  // All ranks run and match the file.
  'gave-token': { state: 'serving', serving: 'keep', stopped: 'stop' },
  'answers-clients': { state: 'serving', serving: 'keep', stopped: 'stop' },
  'instance-missing': { state: 'hung', serving: 'create-instance', stopped: 'stop' },
  'no-token': { state: 'hung', serving: 'restart', stopped: 'stop' },
  'token-unobserved': { state: 'unknown', serving: 'wait', stopped: 'stop-observed' },
} as const;

export type SeenMesh = keyof typeof meshTable;

/**
 * `hung`: all ranks run but return no token. `changed`: all ranks run but do not match the file. `partial`: only some
 * ranks run. `dead`: no rank runs, and at least one exited. `stopped`: no rank runs, and none exited. `not-placed`: no
 * node has a record of it. `unknown`: a rank or its endpoint could not be observed.
 */
export type MeshState = (typeof meshTable)[SeenMesh]['state'];
