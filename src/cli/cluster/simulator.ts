import { diagnose, failure } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { askControl, type ControlRequest } from '../../sim/hosts/control/control.ts';
import { type RunFile, readRun } from '../../sim/hosts/control/run-folder.ts';
import { simFolder } from '../files/places.ts';
import type { Run } from '../verb.ts';
import { requireClusterFile } from './open-cluster.ts';
import { requireReadable } from './ssh-targets.ts';

/** The cluster file's running simulated fleet. @throws FleetError `sim/not-running`, `sim/run-folder` */
export async function requireRun(run: Run): Promise<RunFile> {
  const folder = simFolder(run.env, requireClusterFile(run));
  const state = await readRun(folder);
  if (state.kind === 'live') return state.run;
  requireReadable(folder);
  throw failure('sim/not-running', { detail: 'No simulated fleet runs for this cluster file.' });
}

const controlDeadlineMs = 10_000;

/** The value of the simulator's answer, in the form that the request returns. @throws FleetError as it reports */
export async function askSimulator<Value>(
  runFile: RunFile,
  request: ControlRequest,
  deadlineMs = controlDeadlineMs,
): Promise<Value> {
  const answer = await askControl(runFile.controlSocket, request, deadlineMs);
  if (answer === undefined) {
    throw failure('sim/no-answer', { detail: 'The simulator runs, but does not answer.' });
  }
  if (answer.ok) return answer.value as Value;
  const [first, ...others] = answer.diagnostics as readonly Diagnostic[];
  throw new FleetError([
    first ?? diagnose('sim/no-answer', { detail: 'The simulator refused the request without a reason.' }),
    ...others,
  ]);
}

interface Endpoint {
  /** The leader. */
  readonly node: string;
  readonly port: number;
}

const endpointText = ({ node, port }: Endpoint): string => `${node}:${port}`;

/**
 * In a rehearsal, the URLs on this computer that lead to these endpoints, without a path. On real Macs, none.
 * @throws FleetError `sim/not-running`, `sim/other-file`
 */
export async function rehearsedUrls(
  run: Run,
  endpoints: readonly Endpoint[],
): Promise<(endpoint: Endpoint) => string | undefined> {
  if (run.options.sim !== true || endpoints.length === 0) return () => undefined;
  const request = { ask: 'address', words: [...new Set(endpoints.map(endpointText))] } as const;
  const answer = await askSimulator<{ readonly ports: Readonly<Record<string, number>> }>(
    await requireRun(run),
    request,
  );
  return (endpoint) => `http://127.0.0.1:${answer.ports[endpointText(endpoint)]}`;
}
