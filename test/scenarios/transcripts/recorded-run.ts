import { expect } from 'vitest';
import type { RunReport } from '../../../src/apply/open-run.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { isSuccess } from '../../../src/model/probe.ts';
import type { RemoteListener } from '../../../src/remote/remote.ts';
import type { Fleet } from '../../../src/sim/hosts/control/start-fleet.ts';
import { startRecording } from './recording.ts';
import { isObservation, isTimed, otherScripts, outOfOrder, transcriptOf } from './transcript.ts';

/** A run to record, on a fleet whose other files are in a folder. */
export interface RunToRecord {
  readonly title: string;
  readonly fleet: Fleet;
  readonly folder: string;
  /** Runs with this listener for all sent commands. */
  readonly run: (listener: RemoteListener) => Promise<{ readonly plan: Plan; readonly report?: RunReport | undefined }>;
}

/**
 * The transcript of a run. Expects its commands in order, with names, and as generated from the arguments of its steps.
 */
export async function recordedRun({ title, fleet, folder, run }: RunToRecord): Promise<string> {
  const recording = startRecording(fleet);
  const { plan, report } = await run(recording.listener);
  const execs = await recording.end();
  const { nodes } = fleet;
  const roots = Object.fromEntries(Object.values(nodes).map(({ root }) => [root, '']));
  const recorded = {
    execs,
    steps: [...plan.steps, ...plan.rescues.flatMap((rescue) => rescue.steps)],
    outcomes: new Map(report?.steps.map(({ step, outcome }) => [step, outcome])),
    placeOf: (node: string) => ({ rootPrefix: nodes[node]?.root ?? '', login: nodes[node]?.user ?? '' }),
    folders: { ...roots, [folder]: '/rack' },
  };
  expect([outOfOrder(recorded), otherScripts(recorded)]).toEqual([[], []]);
  expect(execs.filter((one) => one.name === undefined && !isObservation(one))).toEqual([]);
  // A renewal of the lease that arrives after its release is refused.
  const lost = execs.filter((one) => isTimed(one) && one.name !== 'keep-lease' && !isSuccess(one.exit));
  expect(lost.map(({ name, exit }) => [name, exit])).toEqual([]);
  return transcriptOf(title, recorded);
}
