import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, messageOf, type NonEmpty, systemCode } from '../../../diagnostics/diagnostic.ts';
import { given } from '../../../model/given.ts';
import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import { openRehearsalWeb } from '../../web/rehearsal-web.ts';
import type { ActsAnswer, FaultAnswer, FleetModel } from '../fleet-model.ts';
import { isSameProcess, processStart } from '../processes.ts';
import { markVariable } from '../ssh/ssh-user.ts';
import { openAddresses } from './addresses.ts';
import {
  askControl,
  asks,
  type ControlAnswer,
  type ControlRequest,
  chooseSocketPath,
  openSocket,
  parseObject,
} from './control.ts';
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

const logName = 'supervisor.log';
const pollMs = 20;
const startMs = 60_000;
const stopMs = 10_000;

const failureName = 'failed.json';

const failed = (detail: string): FleetError => new FleetError([diagnose('sim/start-failed', { detail })]);

/** Saves the reason of a failed start for the waiting process. */
async function writeFailure(folder: string, error: unknown): Promise<void> {
  const failure = error instanceof FleetError ? error : failed(messageOf(error));
  const text = JSON.stringify({ pid: process.pid, diagnostics: failure.diagnostics });
  await writeFile(join(folder, failureName), text, { mode: 0o600 });
}

/** The reason why a process did not start: its own message, or the end of its log. */
async function readFailure(folder: string, { pid, end }: StartedProcess): Promise<FleetError> {
  const saved = parseObject(await readFile(join(folder, failureName), 'utf8').catch(() => ''));
  if (saved?.['diagnostics'] !== undefined && saved['pid'] === pid)
    return new FleetError(saved['diagnostics'] as NonEmpty<Diagnostic>);
  const log = await readFile(join(folder, logName), 'utf8').catch(() => '');
  const last = log.trim().split('\n').slice(-3).join(' / ');
  return failed(`The simulator did not start: ${end ?? 'it did not answer in time'}. ${last}`.trim());
}

/**
 * Runs a supervisor process from start to end. It serves until it gets a stop request on its socket, TERM or INT. It
 * ignores HUP, because it outlives its terminal.
 *
 * @throws FleetError like `serve`
 */
export async function superviseUntilStopped(options: ServeOptions): Promise<void> {
  const serving = await serve(options).catch(async (error: unknown) => {
    await writeFailure(options.folder, error);
    throw error;
  });
  process.on('SIGHUP', () => undefined);
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, serving.stop);
  await serving.ended;
}

interface StartSupervisorOptions {
  /** Program and arguments of a process that runs {@link superviseUntilStopped} for the same folder. */
  readonly entry: readonly [string, ...string[]];
  readonly folder: string;
}

type StartedProcess = Awaited<ReturnType<typeof spawnDetached>>;

/** Starts the process in a new session, without the caller's terminal or pipes. */
async function spawnDetached({ entry: [program, ...args], folder }: StartSupervisorOptions) {
  // Keeps the previous log, which may contain the reason for a crash.
  await rename(join(folder, logName), join(folder, `previous-${logName}`)).catch(() => undefined);
  const log = await open(join(folder, logName), 'w', 0o600);
  const { [markVariable]: _mark, ...env } = process.env;
  const child = spawn(program, args, { detached: true, stdio: ['ignore', log.fd, log.fd], cwd: '/', env });
  const state: { readonly pid: number | undefined; end?: string } = { pid: child.pid };
  child.once('error', (error) => {
    state.end = error.message;
  });
  child.once('exit', (code, signal) => {
    state.end = `it exited with ${signal ?? code}`;
  });
  child.unref();
  await log.close();
  return state;
}

/**
 * Starts a simulated fleet in a separate process and waits until it answers. If this folder's fleet already answers,
 * the result is `already`; a fleet that does not answer is replaced.
 *
 * @throws FleetError with the process's own message, or `sim/start-failed` with the end of its log
 */
export async function startSupervisor(
  options: StartSupervisorOptions,
): Promise<{ readonly kind: 'started' | 'already'; readonly run: RunFile }> {
  const folder = resolve(options.folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const before = await readRun(folder);
  if (before.kind === 'live') return { kind: 'already', run: before.run };
  if (before.kind === 'silent') await stopSupervisor(folder);
  const child = await spawnDetached({ ...options, folder });
  const end = Date.now() + startMs;
  for (;;) {
    const state = await readRun(folder);
    if (state.kind === 'live' && state.run.pid === child.pid) return { kind: 'started', run: state.run };
    // A different process was faster, so our process has exited.
    if (state.kind === 'live' && child.end !== undefined) return { kind: 'already', run: state.run };
    if (child.end !== undefined && !(await isClaimed(folder))) break;
    if (Date.now() > end) {
      if (child.pid !== undefined) endProcess(child.pid);
      break;
    }
    await pause(pollMs);
  }
  throw await readFailure(folder, child);
}

/** Waits until this process exits, and kills it after a timeout. */
async function awaitEnd(run: RunFile): Promise<void> {
  const end = Date.now() + stopMs;
  while (await isSameProcess(run.pid, run.pidStart)) {
    if (Date.now() > end) endProcess(run.pid);
    await pause(pollMs);
  }
}

/**
 * Stops this folder's simulated fleet, or cleans up after a crash; may be called repeatedly. Returns the number of node
 * processes that had to be killed at the end.
 *
 * @throws FleetError `sim/no-answer` if the fleet does not answer and belongs to a different user
 */
export async function stopSupervisor(
  folder: string,
): Promise<{ readonly kind: 'none' | 'stopped' | 'cleaned'; readonly sweptCount: number }> {
  const state = await readRun(resolve(folder));
  if (state.kind === 'none') return { kind: 'none', sweptCount: 0 };
  if (state.kind === 'live') await askControl(state.run.controlSocket, { ask: 'stop' }, stopMs);
  if (state.kind === 'silent') endProcess(state.run.pid);
  await awaitEnd(state.run);
  const sweptCount = await cleanRun(resolve(folder), state.run);
  await rm(claimPath(resolve(folder)), { force: true });
  return { kind: state.kind === 'dead' ? 'cleaned' : 'stopped', sweptCount };
}

/**
 * Kills the process of a simulated fleet; succeeds if it is already gone.
 *
 * @throws FleetError `sim/no-answer` if the process belongs to a different user
 */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ESRCH') return;
    if (code !== 'EPERM') throw error;
    const detail = `Process ${pid} belongs to a different user, so it cannot be stopped from here.`;
    const hint = prose`The user who started it can stop it: ${meshwright('sim down')}`;
    throw new FleetError([diagnose('sim/no-answer', { detail, hint })]);
  }
}

interface ServeOptions {
  readonly folder: string;
  /** The fleet's cluster file, for `sim status`. */
  readonly clusterFile: string;
  readonly load: () => Promise<FleetModel>;
  /** See `startFleet`. */
  readonly clockFactor?: number;
  readonly log: (line: string) => void;
}

/** Interval at which a supervisor checks that its folder exists. Removing the folder stops the fleet. */
const watchMs = 1_000;

const claimPath = (folder: string): string => join(folder, 'claim');

/** Whether a living process runs or starts a fleet in this folder. */
async function isClaimed(folder: string): Promise<boolean> {
  const [pid = '', start = ''] = (await readFile(claimPath(folder), 'utf8').catch(() => '')).split(' ', 2);
  return start !== '' && (await isSameProcess(Number(pid), start));
}

/**
 * The claim belongs to the process that created it. @throws FleetError `sim/start-failed` if a different process has it
 */
async function claim(folder: string, owner: string): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      await writeFile(claimPath(folder), owner, { flag: 'wx', mode: 0o600 });
      return;
    } catch {
      if (await isClaimed(folder)) break;
      await rm(claimPath(folder), { force: true });
    }
  }
  const detail = `Another process already runs a simulated fleet in ${folder}.`;
  throw new FleetError([diagnose('sim/start-failed', { detail, hint: prose`Check it: ${meshwright('sim status')}` })]);
}

/** Ports of the previous run, so that known_hosts entries and the settings of clients remain valid. */
async function earlierPorts(folder: string) {
  const earlier = (await parseRunFile(folder, runFileName)) ?? (await parseRunFile(folder, stoppedFileName));
  const ports = Object.fromEntries(Object.entries(earlier?.nodes ?? {}).map(([name, node]) => [name, node.port]));
  return { ports, addresses: earlier?.addresses ?? {} };
}

const done = (value: unknown): ControlAnswer => ({ simulated: true, ok: true, value });

const refused = (...diagnostics: readonly Diagnostic[]): ControlAnswer => ({ simulated: true, ok: false, diagnostics });

async function powerOn(fleet: Fleet, names: readonly string[]): Promise<ControlAnswer> {
  for (const name of names) {
    if (!(await fleet.powerOn(name))) {
      const detail = `This rack has no node ${JSON.stringify(name)}.`;
      return refused(diagnose('sim/unknown-node', { detail }));
    }
    if (fleet.power()[name] === 'down') {
      const detail = `${name} has no power, so its button does nothing.`;
      const hint = prose`Restore the power: ${meshwright('sim fault', '--clear', 'power-cut', name)}`;
      return refused(diagnose('sim/impossible-act', { detail, hint }));
    }
  }
  return done({ power: fleet.power() });
}

/** Switches a Mac's outlet, as a PDU does. A Mac whose outlet is off has the fault `power-cut`. */
async function switchOutlet({ fleet, model }: Answering, [to = '', outlet = '']: readonly string[]) {
  const node = model.nodes.find((one) => one.outlet === outlet);
  if (node === undefined || !['on', 'off'].includes(to)) {
    const detail = `No simulated Mac is plugged into outlet ${JSON.stringify(outlet)}.`;
    return refused(diagnose('sim/impossible-act', { detail, hint: outletHint }));
  }
  const fault = ['power-cut', node.name];
  const isOff = model.faults().some(({ text }) => text === fault.join(' '));
  if (to === 'off' && !isOff) await fleet.setFault(fault);
  if (to === 'on' && isOff) await fleet.clearFault(fault);
  return done({ power: fleet.power() });
}

const outletHint = prose`Outlets are those in the file when the Macs were created. To create them again: ${meshwright('sim up', '--fresh')}`;

/** Gives each endpoint an address on this computer, and records them for the next run. */
async function giveAddresses({ run, addresses, folder }: Answering, endpoints: readonly string[]) {
  const unknown = endpoints.find((one) => !Object.hasOwn(run.nodes, one.slice(0, one.lastIndexOf(':'))));
  if (unknown !== undefined) {
    const detail = `The simulated fleet has no node for the endpoint ${unknown}: the cluster file was changed after \`sim up\`.`;
    return refused(diagnose('sim/other-file', { detail }));
  }
  const before = Object.keys(addresses.all()).length;
  const ports = await Promise.all(endpoints.map(async (one) => [one, await addresses.portFor(one)] as const));
  const all = addresses.all();
  if (Object.keys(all).length > before) await writeRunFile(folder, { ...run, addresses: all });
  return done({ ports: Object.fromEntries(ports) });
}

const maxLineBytes = 65_536;

const isWords = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((word) => typeof word === 'string');

function parseRequest(line: string): ControlRequest | undefined {
  const { ask, words = [] } = parseObject(line) ?? {};
  const known = asks.find((one) => one === ask);
  return known === undefined || !isWords(words) ? undefined : { ask: known, words };
}

/** Answers every line on the socket; an invalid request closes the connection. */
const serveControl = (path: string, answer: (request: ControlRequest) => Promise<ControlAnswer>) =>
  openSocket(path, { allowHalfOpen: false }, (client) => {
    const lines = createInterface({ input: client, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      const request = line.length > maxLineBytes ? undefined : parseRequest(line);
      if (request === undefined) {
        client.destroy();
        return;
      }
      answer(request).then(
        (value) => client.write(`${JSON.stringify(value)}\n`),
        () => client.destroy(),
      );
    });
  });

interface Answering {
  readonly fleet: Fleet;
  readonly model: FleetModel;
  readonly run: RunFile;
  readonly addresses: Awaited<ReturnType<typeof openAddresses>>;
  readonly folder: string;
  readonly stop: () => void;
}

async function answerTo(serving: Answering, { ask, words = [] }: ControlRequest): Promise<ControlAnswer> {
  const { fleet, model, run, stop } = serving;
  const changed = (answer: FaultAnswer | ActsAnswer): ControlAnswer => {
    const { kind: _, ...what } = answer;
    return answer.kind === 'refused' ? refused(...answer.diagnostics) : done({ faults: model.faults(), ...what });
  };
  const answers: Readonly<Record<ControlRequest['ask'], () => ControlAnswer | Promise<ControlAnswer>>> = {
    status: () => done({ run, faults: model.faults(), counts: fleet.counts(), power: fleet.power() }),
    log: async () => {
      const { counts, execs, effects } = fleet;
      return done({ counts: counts(), execs: execs(), effects: effects(), unknown: await fleet.unknown() });
    },
    'fault-list': () => done({ faults: model.faults() }),
    'fault-set': async () => changed(await fleet.setFault(words)),
    'fault-clear': async () => changed(await fleet.clearFault(words)),
    hands: async () => done({ done: (await fleet.hands()).done, faults: model.faults() }),
    act: async () => changed(await fleet.act(words)),
    'power-on': () => powerOn(fleet, words),
    outlet: () => switchOutlet(serving, words),
    address: () => giveAddresses(serving, words),
    stop: () => {
      stop();
      return done({});
    },
  };
  return answers[ask]();
}

/**
 * Runs a simulated fleet that other processes find by its folder. Cleans up after a crashed fleet, starts the nodes,
 * and answers on the control socket. `run.json` is written last, so that every process that reads the file can connect.
 *
 * @throws FleetError `sim/start-failed`, `sim/run-folder`, and errors from loading the model
 */
async function serve(options: ServeOptions) {
  const folder = resolve(options.folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pidStart = (await processStart(process.pid)) ?? '';
  await claim(folder, `${process.pid} ${pidStart}`);
  try {
    const left = await readRun(folder);
    if (left.kind !== 'none')
      options.log(`cleaned up after a crash: killed ${await cleanRun(folder, left.run)} processes`);
    return await startServing({ ...options, folder }, pidStart);
  } catch (error) {
    await rm(claimPath(folder), { force: true });
    throw error;
  }
}

/** `ended` resolves when the fleet has stopped, either through `stop` or through a request on the control socket. */
async function startServing(options: ServeOptions, pidStart: string) {
  const { folder, clusterFile, log } = options;
  const model = await options.load();
  const earlier = await earlierPorts(folder);
  const clock = given({ clockFactor: options.clockFactor });
  const fleet = await startFleet({ folder, model, ports: earlier.ports, ...clock });
  const addresses = await openAddresses(fleet.realPort, earlier.addresses);
  const disks = Object.keys(fleet.nodes).flatMap((name) => fleet.disk(name) ?? []);
  const web = await openRehearsalWeb(folder, disks);
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
    web: { origin: web.origin, caFile: web.caFile },
    nodes: fleet.nodes,
    addresses: addresses.all(),
  };
  const stopping = new AbortController();
  const stopped = once(stopping.signal, 'abort');
  const stop = (): void => stopping.abort();
  const answering = { fleet, model, run, addresses, folder, stop };
  const control = await serveControl(run.controlSocket, (request) => answerTo(answering, request));
  await writeRunFile(folder, run);
  const stopIfRemoved = async (): Promise<void> => {
    const file = await parseRunFile(folder, runFileName);
    if (file?.runId !== run.runId) stop();
  };
  const watch = setInterval(() => void stopIfRemoved(), watchMs).unref();
  const ended = stopped.then(async () => {
    clearInterval(watch);
    await addresses.close();
    await fleet.stop();
    await web.close();
    await control.close();
    await cleanRun(folder, run);
    await rm(claimPath(folder), { force: true });
    log(`simulated fleet ${model.name} is down`);
  });
  log(`simulated fleet ${model.name} is up: ${Object.keys(run.nodes).length} nodes on 127.0.0.1`);
  return { ended, stop };
}
