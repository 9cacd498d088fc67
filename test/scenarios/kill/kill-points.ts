import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { ReceivedExec } from '../../../src/sim/hosts/ssh/sessions.ts';
import { type ExecKey, execKeys, heartbeatOn, isHeartbeat, readJournal } from './exec-keys.ts';
import { canWatchJobs } from './job-watch.ts';
import type { KillRack, KillRun } from './kill-rack.ts';
import type { KillReport } from './order.ts';
import { runKeys } from './record-keys.ts';
import type { KillScenario } from './scenarios.ts';

/** An instant at which a controller is killed. */
export interface KillPoint {
  /**
   * `record`: its journal has written it. `event`: a manual step, which leaves no record. `exec`: a node has
   * received its last byte, and the controller has no answer yet.
   */
  readonly kind: 'record' | 'event' | 'exec';
  readonly key: string;
  /** The number of its plan and the id of its step; undefined for leases and between plans. */
  readonly step?: string;
}

/** A run without a kill. */
export interface Rehearsal {
  readonly points: readonly KillPoint[];
  readonly plans: readonly Plan[];
}

/** The steps of a run, with the names that points use: several plans may have a step with the same name. */
export const stepsOf = (plans: readonly Plan[]): readonly string[] =>
  plans.flatMap(({ steps }, at) => steps.map(({ id }) => `${at + 1} ${id}`));

function recordPoints(journal: string): readonly KillPoint[] {
  const keys = runKeys();
  return readJournal(journal).map((record): KillPoint => {
    const key = keys.record(record);
    const [plan] = key.split(' ');
    const isOfStep = record.phase === 'intent' || record.phase === 'outcome';
    return { kind: 'record', key, ...(isOfStep ? { step: `${plan} ${record.step}` } : {}) };
  });
}

const eventPoints = (plans: readonly Plan[]): readonly KillPoint[] =>
  plans.flatMap(({ steps }, at) =>
    steps
      .filter(({ act }) => act.kind === 'hands')
      .flatMap(({ id }) =>
        ['step-started', 'step-ended'].map((event): KillPoint => {
          return { kind: 'event', key: `${at + 1} ${event} of ${id}`, step: `${at + 1} ${id}` };
        }),
      ),
  );

function reported({ report }: { readonly report?: KillReport }, stderr: string): KillReport {
  if (report === undefined) throw new Error(`the controller returned no report: ${stderr}`);
  const bad = report.steps.filter(({ outcome }) => !['changed', 'unchanged', 'blocked'].includes(outcome));
  if (bad.length > 0)
    throw new Error(bad.map(({ id, outcome, problems }) => `${id} ${outcome}: ${problems}`).join('\n'));
  return report;
}

/** True if a node received the script of a step, which runs under that node's lease. */
const isFenced = ({ input }: ReceivedExec, found: readonly ExecKey[]): boolean =>
  input !== '' && found.some(({ step }) => step !== undefined);

/** Runs a scenario to its end and lists every instant at which it could be killed. */
export async function rehearse(kill: KillRack, scenario: KillScenario): Promise<Rehearsal> {
  await scenario.begin(kill);
  const run = await kill.start(scenario.verb, scenario.targets, { hasHeartbeat: true });
  const execs: KillPoint[] = [];
  const nameOf = execKeys(run.journal);
  const hasEnded = endOf(run);
  const end = kill.rack.fleet().onExec(async (exec) => {
    const found = nameOf(exec);
    execs.push(...found.map((one): KillPoint => ({ kind: 'exec', ...one })));
    // Even on a fast machine, every lease is renewed once before the answer to its first script.
    if (!isFenced(exec, found)) return;
    while (!hasEnded() && !execs.some(({ key }) => key === heartbeatOn(exec.node))) await sleep(10);
  });
  const ended = await run.ended;
  end();
  const { plans } = reported(ended, ended.stderr);
  // The last observation, after the end of the run, does not count.
  const before = execs.filter(({ key }) => !key.startsWith(`${plans.length} look at`));
  const hasJobs = plans.some(({ steps }) => steps.some(({ act }) => act.kind === 'job'));
  if (hasJobs && canWatchJobs && kill.jobs.seen() === 0) throw new Error('the watch observed no job');
  const running = plans.filter(({ steps }) => steps.some(({ act }) => act.kind !== 'hands'));
  return { points: [...recordPoints(run.journal), ...eventPoints(running), ...before], plans: running };
}

/** True if a run has ended. */
function endOf(run: KillRun): () => boolean {
  let hasEnded = false;
  void run.ended.then(() => {
    hasEnded = true;
  });
  return () => hasEnded;
}

/**
 * Starts a scenario again and kills its controller at a point.
 *
 * @throws Error if the run fails or does not reach the point
 */
export async function killAt(kill: KillRack, scenario: KillScenario, point: KillPoint): Promise<KillRun> {
  await scenario.begin(kill);
  kill.files.takeDoubled();
  kill.jobs.takeDoubled();
  const isOfHeartbeat = point.kind === 'exec' && isHeartbeat(point.key);
  const run = await kill.start(scenario.verb, scenario.targets, {
    hasHeartbeat: isOfHeartbeat,
    ...(point.kind === 'exec' ? {} : { dieAfter: point.key }),
  });
  const nameOf = execKeys(run.journal);
  const end = kill.rack.fleet().onExec(async (exec) => {
    if (point.kind !== 'exec') return;
    const found = nameOf(exec);
    if (found.some(({ key }) => key === point.key)) await run.kill();
    else if (isOfHeartbeat && isFenced(exec, found) && heartbeatOn(exec.node) === point.key) await run.ended;
  });
  const { signal, report, stderr } = await run.ended;
  end();
  if (signal === 'SIGKILL') return run;
  reported(report === undefined ? {} : { report }, stderr);
  throw new Error('the run ended before it reached the kill point');
}
