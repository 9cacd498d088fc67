import { readdirSync } from 'node:fs';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import type { SimPower } from '../../model/documents.generated.ts';
import { namedSubject } from '../../model/subject.ts';
import { askControl, type ControlRequest } from '../../sim/hosts/control/control.ts';
import { type RunFile, readRun } from '../../sim/hosts/control/run-folder.ts';
import { requireClusterFile } from '../cluster/open-cluster.ts';
import { simFolder } from '../files/places.ts';
import type { Run } from '../verb.ts';

const controlDeadlineMs = 10_000;
/** Whoever presses a button waits until the Mac has started. */
const buttonDeadlineMs = 300_000;

/** The simulated fleet of the cluster file, which answers. @throws FleetError `sim/not-running`, `sim/run-folder` */
export async function requireRun(run: Run): Promise<RunFile> {
  const folder = simFolder(run.env, requireClusterFile(run));
  const state = await readRun(folder);
  if (state.kind === 'live') return state.run;
  requireReadable(folder);
  throw new FleetError([diagnose('sim/not-running', { detail: 'No simulated fleet runs for this cluster file.' })]);
}

/** A folder that is missing is that of a fleet that is not up; of any other nothing is known. @throws FleetError `sim/run-folder` */
export function requireReadable(folder: string): void {
  try {
    readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    const why = error instanceof Error ? error.message : String(error);
    const detail = `${folder} cannot be used: ${why}.`;
    const hint = 'Set MESHWRIGHT_STATE to a folder that this user can read and write, or unset it.';
    throw new FleetError([diagnose('sim/run-folder', { detail, hint, subject: namedSubject(folder) })], {
      cause: error,
    });
  }
}

/** Faults in force as the simulator tells them, each in words: `cable-missing studio-1:2`. */
export async function askFaults(runFile: RunFile, request: ControlRequest): Promise<readonly string[]> {
  const { faults } = (await ask(runFile, request, buttonDeadlineMs)) as { faults: readonly { text: string }[] };
  return faults.map((one) => one.text);
}

/**
 * What the simulated hands did, in sentences without a full stop, and the faults that are left: with words what these
 * say, without any all that there is to do. @throws FleetError `sim/impossible-act`
 */
export async function askHands(
  runFile: RunFile,
  words: readonly string[],
): Promise<{ readonly done: readonly string[]; readonly faults: readonly string[] }> {
  const request: ControlRequest = words.length === 0 ? { ask: 'hands' } : { ask: 'act', words };
  const answer = await ask(runFile, request, buttonDeadlineMs);
  const { done, faults } = answer as { done: readonly string[]; faults: readonly { text: string }[] };
  return { done, faults: faults.map((one) => one.text) };
}

/** The power of each node, by name. */
export type NodePower = SimPower['power'];

/** Presses the buttons of these nodes; whether each is up then, by name. @throws FleetError `sim/unknown-node` */
export async function askPowerOn(runFile: RunFile, nodes: readonly string[]): Promise<NodePower> {
  const answer = await ask(runFile, { ask: 'power-on', words: nodes }, buttonDeadlineMs);
  return (answer as { power: NodePower }).power;
}

/** The power of every node. */
export async function askPower(runFile: RunFile): Promise<NodePower> {
  const answer = await ask(runFile, { ask: 'status' });
  return (answer as { power: NodePower }).power;
}

async function ask(runFile: RunFile, request: ControlRequest, deadlineMs = controlDeadlineMs): Promise<unknown> {
  const answer = await askControl(runFile.controlSocket, request, deadlineMs);
  if (answer === undefined) {
    throw new FleetError([diagnose('sim/no-answer', { detail: 'The simulator runs, but does not answer.' })]);
  }
  if (answer.ok) return answer.value;
  const [first, ...others] = answer.diagnostics as readonly Diagnostic[];
  throw new FleetError([
    first ?? diagnose('sim/no-answer', { detail: 'The simulator refused without a reason.' }),
    ...others,
  ]);
}

/** The file that was started as `meshwright`. */
export function selfEntry(): string {
  const entry = process.argv[1];
  if (entry === undefined) throw new Error('this process has no entry file');
  return entry;
}
