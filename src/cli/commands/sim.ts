import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import { faultNames, faults } from '../../sim/faults.ts';
import { askControl, type ControlRequest } from '../../sim/host/control.ts';
import type { RunFile } from '../../sim/host/run-file.ts';
import { readRun } from '../../sim/host/run-state.ts';
import { startSupervisor, stopSupervisor } from '../../sim/host/supervisor.ts';
import { showJson } from '../diagnostics-output.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { openCluster, requireClusterFile } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import { selfEntry } from '../run-self.ts';
import { simFolder } from '../state-folder.ts';
import type { Run, VerbBody } from '../verb.ts';
import { replaceFile } from '../write-file.ts';
import { fleetFileName } from './sim-serve.ts';

const controlDeadlineMs = 10_000;

/** `sim up`: one simulated Mac per node of the file; does nothing when it is up already. */
export const simUp: VerbBody = async (run) => {
  noWords(run);
  const cluster = openCluster(run);
  const folder = simFolder(run.env, cluster.path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const before = await readRun(folder);
  if (before.kind !== 'live') {
    replaceFile(
      join(folder, fleetFileName),
      JSON.stringify({ clusterFile: cluster.path, fleet: cluster.fleet }),
      0o600,
    );
  }
  const entry = [process.execPath, ...process.execArgv, selfEntry(), 'sim', 'serve', folder] as const;
  const started = await startSupervisor({ entry, folder });
  if (run.options.json) showJson(run.console, { simulated: true, state: started.kind, ...placeJson(started.run) });
  else showUp(run, started.kind === 'already', started.run);
  return exitCode.done;
};

function showUp(run: Run, wasUp: boolean, runFile: RunFile): void {
  const { out } = run.console;
  const count = Object.keys(runFile.nodes).length;
  out(`${runFile.cluster}: ${count} simulated node${count === 1 ? '' : 's'} ${wasUp ? 'were up already' : 'are up'}\n`);
  for (const [name, node] of Object.entries(runFile.nodes))
    out(`  ${name}   ssh ${node.user}@127.0.0.1 port ${node.port}\n`);
  out(
    wasUp
      ? 'After a change of the file: meshwright sim down && meshwright sim up\n'
      : 'Look at them: meshwright status --sim\n',
  );
}

/** `sim down`: ends the simulated fleet; without one it says so and is content. */
export const simDown: VerbBody = async (run) => {
  noWords(run);
  const stopped = await stopSupervisor(simFolder(run.env, requireClusterFile(run)));
  if (run.options.json) showJson(run.console, { simulated: true, state: stopped.kind });
  else run.console.out(`${downText[stopped.kind]}\n`);
  return exitCode.done;
};

const downText = {
  none: 'No simulated fleet was running.',
  stopped: 'The simulated fleet is down.',
  cleaned: 'The simulated fleet had crashed; what was left of it is cleaned up.',
} as const;

/** `sim status`: nodes, ports and faults of the simulated fleet. */
export const simStatus: VerbBody = async (run) => {
  noWords(run);
  const runFile = await requireRun(run);
  const { faults: active } = (await ask(runFile, { ask: 'status' })) as { faults: readonly { text: string }[] };
  if (run.options.json) {
    showJson(run.console, {
      simulated: true,
      state: 'up',
      ...placeJson(runFile),
      faults: active.map((one) => one.text),
    });
    return exitCode.done;
  }
  const { out } = run.console;
  out(`${runFile.cluster}   simulated, up since ${new Date(runFile.startedAtEpochMs).toISOString()}\n`);
  for (const [name, node] of Object.entries(runFile.nodes)) {
    out(`  ${name}   ${node.user}@127.0.0.1 port ${node.port}   / is ${node.root}\n`);
  }
  out(active.length === 0 ? 'No faults.\n' : `Faults:\n${active.map((one) => `  ${one.text}\n`).join('')}`);
  return exitCode.done;
};

/** `sim fault`: breaks something by name, mends it, or lists what can be broken. */
export const simFault: VerbBody = async (run) => {
  if (run.own['list'] === true) return listFaults(run);
  const isClearing = run.own['clear'] === true;
  if (run.words.length === 0 && !isClearing) {
    throw usageError('No fault is named.', 'See: meshwright sim fault --list');
  }
  const runFile = await requireRun(run);
  const answer = await ask(runFile, { ask: isClearing ? 'fault-clear' : 'fault-set', words: run.words });
  const { faults: active } = answer as { faults: readonly { text: string }[] };
  if (run.options.json) showJson(run.console, { simulated: true, faults: active.map((one) => one.text) });
  else if (active.length === 0) run.console.out('No faults: the simulated rack is as the file says.\n');
  else run.console.out(`In force:\n${active.map((one) => `  ${one.text}\n`).join('')}`);
  return exitCode.done;
};

function listFaults(run: Run): ExitCode {
  const all = faultNames.map((name) => ({ name, summary: faults[name].summary, targets: faults[name].targets }));
  if (run.options.json) showJson(run.console, { faults: all });
  else for (const { name, summary, targets } of all) run.console.out(`${name} ${targets}\n    ${summary}\n`);
  return exitCode.done;
}

async function requireRun(run: Run): Promise<RunFile> {
  const state = await readRun(simFolder(run.env, requireClusterFile(run)));
  if (state.kind === 'live') return state.run;
  throw new FleetError([diagnose('sim/not-running', { detail: 'No simulated fleet runs for this cluster file.' })]);
}

async function ask(runFile: RunFile, request: ControlRequest): Promise<unknown> {
  const answer = await askControl(runFile.controlSocket, request, controlDeadlineMs);
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

const placeJson = (runFile: RunFile): Record<string, unknown> => ({
  cluster: runFile.cluster,
  pid: runFile.pid,
  nodes: Object.fromEntries(
    Object.entries(runFile.nodes).map(([name, { port, user, root }]) => [
      name,
      { host: '127.0.0.1', port, user, root },
    ]),
  ),
});

function noWords(run: Run): void {
  const [word] = run.words;
  if (word !== undefined)
    throw usageError(`Nothing can be said after the verb, and there is "${word}".`, 'Leave it out.');
}
