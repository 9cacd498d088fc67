import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { FaultAnswer, FleetModel } from '../fleet-model.ts';
import { isSameProcess, processStart } from '../processes.ts';
import { type ControlAnswer, type ControlRequest, chooseSocketPath, serveControl } from './control.ts';
import {
  cleanRun,
  parseRunFile,
  type RunFile,
  readRun,
  runFileName,
  stoppedFileName,
  writeRunFile,
} from './run-folder.ts';
import { type Fleet, startFleet } from './start-fleet.ts';

/** What a supervisor is started with. */
export interface ServeOptions {
  readonly folder: string;
  /** Shown by status: where the fleet comes from. */
  readonly clusterFile: string;
  readonly load: () => Promise<FleetModel>;
  /** As `startFleet` takes it. */
  readonly clockFactor?: number;
  /** One line for the log. */
  readonly log: (line: string) => void;
}

/** A fleet that can be found by its run folder. */
export interface Serving {
  readonly run: RunFile;
  readonly fleet: Fleet;
  /** Resolves when the fleet has been stopped, by this or over the control socket. */
  readonly ended: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** How often a supervisor looks whether its folder is still there: whoever removes it wants the fleet gone. */
const watchMs = 1_000;

const claimPath = (folder: string): string => join(folder, 'claim');

/** Whether a living process runs, or is starting, a fleet in this folder. */
export async function isClaimed(folder: string): Promise<boolean> {
  const [pid = '', start = ''] = (await readFile(claimPath(folder), 'utf8').catch(() => '')).split(' ', 2);
  return start !== '' && (await isSameProcess(Number(pid), start));
}

/**
 * Only one supervisor per folder: whoever creates the claim has it; the claim of a dead process is removed.
 *
 * @throws FleetError `sim/start-failed` when another one holds it
 */
async function claim(folder: string, owner: string): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      const file = await open(claimPath(folder), 'wx', 0o600);
      await file.writeFile(owner);
      await file.close();
      return;
    } catch {
      if (await isClaimed(folder)) break;
      await rm(claimPath(folder), { force: true });
    }
  }
  const detail = `Another process already runs a simulated fleet in ${folder}.`;
  throw new FleetError([
    diagnose('sim/start-failed', { detail, hint: prose`Look at it: ${meshwright('sim status')}` }),
  ]);
}

/** Ports of the run before, so that known_hosts entries of a rehearsal stay true. */
async function earlierPorts(folder: string): Promise<Readonly<Record<string, number>>> {
  const earlier = (await parseRunFile(folder, runFileName)) ?? (await parseRunFile(folder, stoppedFileName));
  return Object.fromEntries(Object.entries(earlier?.nodes ?? {}).map(([name, node]) => [name, node.port]));
}

const faultAnswer = (answer: FaultAnswer): ControlAnswer =>
  answer.kind === 'done'
    ? { simulated: true, ok: true, value: { faults: answer.faults } }
    : { simulated: true, ok: false, diagnostics: answer.diagnostics };

/** Presses the buttons of these nodes, one after the other. */
async function powerOn(fleet: Fleet, names: readonly string[]): Promise<ControlAnswer> {
  for (const name of names) {
    if (await fleet.powerOn(name)) {
      if (fleet.power()[name] !== 'down') continue;
      const detail = `There is no current at ${name}, so its button does nothing.`;
      const hint = prose`Bring the current back: ${meshwright('sim fault', '--clear', 'power-cut', name)}`;
      return { simulated: true, ok: false, diagnostics: [diagnose('sim/impossible-act', { detail, hint })] };
    }
    const detail = `There is no node ${JSON.stringify(name)} in this rack.`;
    return { simulated: true, ok: false, diagnostics: [diagnose('sim/unknown-node', { detail })] };
  }
  return { simulated: true, ok: true, value: { power: fleet.power() } };
}

interface Answering {
  readonly fleet: Fleet;
  readonly model: FleetModel;
  readonly run: RunFile;
  readonly stop: () => void;
}

async function answerTo({ fleet, model, run, stop }: Answering, request: ControlRequest): Promise<ControlAnswer> {
  switch (request.ask) {
    case 'status':
      return {
        simulated: true,
        ok: true,
        value: { run, faults: model.faults(), counts: fleet.counts(), power: fleet.power() },
      };
    case 'log':
      return {
        simulated: true,
        ok: true,
        value: {
          counts: fleet.counts(),
          execs: fleet.execs(),
          effects: fleet.effects(),
          unknown: await fleet.unknown(),
        },
      };
    case 'fault-list':
      return { simulated: true, ok: true, value: { faults: model.faults() } };
    case 'fault-set':
      return faultAnswer(await fleet.setFault(request.words));
    case 'fault-clear':
      return faultAnswer(await fleet.clearFault(request.words));
    case 'hands':
      return { simulated: true, ok: true, value: { done: (await fleet.hands()).done, faults: model.faults() } };
    case 'act': {
      const answer = await fleet.act(request.words);
      return answer.kind === 'done'
        ? { simulated: true, ok: true, value: { done: answer.done, faults: model.faults() } }
        : { simulated: true, ok: false, diagnostics: answer.diagnostics };
    }
    case 'power-on':
      return powerOn(fleet, request.words);
    case 'stop':
      stop();
      return { simulated: true, ok: true, value: {} };
  }
}

/**
 * Runs a simulated fleet that other processes find by its folder: cleans up after a crashed one, starts the nodes,
 * answers on the control socket, and writes `run.json` last, so that whoever reads it can connect.
 *
 * @throws FleetError `sim/start-failed`, `sim/run-folder`, and whatever loading the model throws
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const folder = resolve(options.folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pidStart = (await processStart(process.pid)) ?? '';
  await claim(folder, `${process.pid} ${pidStart}`);
  try {
    const left = await readRun(folder);
    if (left.kind !== 'none')
      options.log(`cleaned up after a crash: ${await cleanRun(folder, left.run)} processes ended`);
    return await startServing({ ...options, folder }, pidStart);
  } catch (error) {
    await rm(claimPath(folder), { force: true });
    throw error;
  }
}

async function startServing(options: ServeOptions, pidStart: string): Promise<Serving> {
  const { folder, clusterFile, log } = options;
  const model = await options.load();
  const fleet = await startFleet({
    folder,
    model,
    ports: await earlierPorts(folder),
    ...(options.clockFactor !== undefined && { clockFactor: options.clockFactor }),
  });
  const run: RunFile = {
    simulated: true,
    pid: process.pid,
    pidStart,
    startedAtEpochMs: Date.now(),
    runId: fleet.runId,
    cluster: model.name,
    clusterFile,
    controlSocket: await chooseSocketPath(folder, 'control.sock'),
    askSocket: fleet.askSocket,
    userKeyFile: fleet.userKey.path,
    nodes: fleet.nodes,
  };
  let stopping: Promise<void> | undefined;
  let watch: NodeJS.Timeout | undefined;
  let tellEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    tellEnded = resolve;
  });
  const stop = (): Promise<void> => {
    clearInterval(watch);
    stopping ??= fleet
      .stop()
      .then(() => control.close())
      .then(() => cleanRun(folder, run))
      .then(() => rm(claimPath(folder), { force: true }))
      .then(() => log(`simulated fleet ${model.name} is down`))
      .then(tellEnded);
    return stopping;
  };
  const control = await serveControl(run.controlSocket, (request) =>
    answerTo({ fleet, model, run, stop: () => void stop().catch((error: unknown) => log(String(error))) }, request),
  );
  await writeRunFile(folder, run);
  watch = setInterval(() => {
    parseRunFile(folder, runFileName)
      .then((file) => (file?.runId === run.runId ? undefined : stop()))
      .catch((error: unknown) => log(String(error)));
  }, watchMs);
  watch.unref();
  log(`simulated fleet ${model.name} is up: ${Object.keys(run.nodes).length} nodes on 127.0.0.1`);
  return { run, fleet, ended, stop };
}
