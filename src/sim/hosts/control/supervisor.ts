import { spawn } from 'node:child_process';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, type NonEmpty } from '../../../diagnostics/diagnostic.ts';
import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import { isSameProcess } from '../processes.ts';
import { markVariable } from '../ssh/ssh-user.ts';
import { askControl } from './control.ts';
import { cleanRun, type RunFile, readRun } from './run-folder.ts';
import { isClaimed, type ServeOptions, serve } from './serve.ts';

const logName = 'supervisor.log';
const pollMs = 20;
const stopMs = 10_000;

const failureName = 'failed.json';

const failed = (detail: string): FleetError => new FleetError([diagnose('sim/start-failed', { detail })]);

/** Leaves the reason for whoever waits for the start. */
async function writeFailure(folder: string, error: unknown): Promise<void> {
  const told = error instanceof FleetError ? error : failed(error instanceof Error ? error.message : String(error));
  const text = JSON.stringify({ pid: process.pid, diagnostics: told.diagnostics });
  await writeFile(join(folder, failureName), text, { mode: 0o600 });
}

function isFailure(value: unknown, pid: number | undefined): value is Failure {
  return typeof value === 'object' && value !== null && 'pid' in value && value.pid === pid && 'diagnostics' in value;
}

interface Failure {
  readonly diagnostics: NonEmpty<Diagnostic>;
}

/** Why the process with this number did not come up, in its own words, or from the end of its log. */
async function readFailure(folder: string, { pid, end }: Detached): Promise<FleetError> {
  const text = await readFile(join(folder, failureName), 'utf8').catch(() => 'null');
  const value: unknown = JSON.parse(text);
  if (isFailure(value, pid)) return new FleetError(value.diagnostics);
  const log = await readFile(join(folder, logName), 'utf8').catch(() => '');
  const last = log.trim().split('\n').slice(-3).join(' / ');
  return failed(`It did not come up: ${end ?? 'nothing was heard of it in time'}. ${last}`.trim());
}

/**
 * The whole life of a supervisor process: serves until it is told to stop over the socket or by TERM or INT. A
 * hang-up does not end it: it outlives the terminal that started it.
 *
 * @throws FleetError as {@link serve}
 */
export async function superviseUntilStopped(options: ServeOptions): Promise<void> {
  const serving = await serve(options).catch(async (error: unknown) => {
    await writeFailure(options.folder, error);
    throw error;
  });
  const stop = (): void => {
    serving.stop().catch((error: unknown) => options.log(String(error)));
  };
  process.on('SIGHUP', () => undefined);
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  await serving.ended;
}

/** How a supervisor is started. */
interface StartSupervisorOptions {
  /** Program and arguments of the process that ends up in {@link superviseUntilStopped} for the same folder. */
  readonly entry: readonly [string, ...string[]];
  readonly folder: string;
  readonly deadlineMs?: number;
}

/** A fleet that answers; `already` when it did so before. */
interface Started {
  readonly kind: 'started' | 'already';
  readonly run: RunFile;
}

/** Starts the process in a session of its own, with nothing of the caller's: no terminal, no pipe to hold open. */
async function spawnDetached({ entry: [program, ...args], folder }: StartSupervisorOptions): Promise<Detached> {
  // The log of a crash is worth more than that of the run which follows it.
  await rename(join(folder, logName), join(folder, `previous-${logName}`)).catch(() => undefined);
  const log = await open(join(folder, logName), 'w', 0o600);
  const { [markVariable]: _mark, ...env } = process.env;
  const child = spawn(program, args, { detached: true, stdio: ['ignore', log.fd, log.fd], cwd: '/', env });
  const state: Detached = { pid: child.pid, end: undefined };
  child.once('error', (error) => {
    state.end = error.message;
  });
  child.once('exit', (code, signal) => {
    state.end = `it ended with ${signal ?? code}`;
  });
  child.unref();
  await log.close();
  return state;
}

interface Detached {
  readonly pid: number | undefined;
  end: string | undefined;
}

/**
 * Brings up a simulated fleet in a process of its own and waits until it answers. Does nothing when the one of this
 * folder already does; replaces one that no longer does.
 *
 * @throws FleetError with what the process itself says, or `sim/start-failed` with the end of its log
 */
export async function startSupervisor(options: StartSupervisorOptions): Promise<Started> {
  const folder = resolve(options.folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const before = await readRun(folder);
  if (before.kind === 'live') return { kind: 'already', run: before.run };
  if (before.kind === 'silent') await stopSupervisor(folder);
  const child = await spawnDetached({ ...options, folder });
  const end = Date.now() + (options.deadlineMs ?? 60_000);
  for (;;) {
    const state = await readRun(folder);
    if (state.kind === 'live' && state.run.pid === child.pid) return { kind: 'started', run: state.run };
    // Another one was faster: ours can only find that out as well.
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

/** What stopping found: nothing, a fleet that it stopped, or the rest of a crashed one. */
interface Stopped {
  readonly kind: 'none' | 'stopped' | 'cleaned';
  /** Processes of node commands that had to be ended after everything else was gone. */
  readonly sweptCount: number;
}

/** Waits for the end of exactly this process, and ends it by force when it takes too long. */
async function awaitEnd(run: RunFile): Promise<void> {
  const end = Date.now() + stopMs;
  while (await isSameProcess(run.pid, run.pidStart)) {
    if (Date.now() > end) endProcess(run.pid);
    await pause(pollMs);
  }
}

/**
 * Stops the simulated fleet of this folder, or cleans up after a crashed one; may be called again and again.
 *
 * @throws FleetError `sim/no-answer` when it does not answer and belongs to another user
 */
export async function stopSupervisor(folder: string): Promise<Stopped> {
  const state = await readRun(resolve(folder));
  if (state.kind === 'none') return { kind: 'none', sweptCount: 0 };
  if (state.kind === 'live') await askControl(state.run.controlSocket, { ask: 'stop' }, stopMs);
  if (state.kind === 'silent') endProcess(state.run.pid);
  await awaitEnd(state.run);
  const sweptCount = await cleanRun(resolve(folder), state.run);
  await rm(join(resolve(folder), 'claim'), { force: true });
  return { kind: state.kind === 'dead' ? 'cleaned' : 'stopped', sweptCount };
}

/** Sends a signal to a process, as `process.kill` does. */
type SendSignal = (pid: number, signal: 'SIGKILL') => void;

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

const sendSignal: SendSignal = (pid, signal) => {
  process.kill(pid, signal);
};

/**
 * Ends the process of a simulated fleet by force; one that is gone already is fine.
 *
 * @throws FleetError `sim/no-answer` when the process belongs to another user
 */
export function endProcess(pid: number, send: SendSignal = sendSignal): void {
  try {
    send(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return;
    if (codeOf(error) !== 'EPERM') throw error;
    const detail = `Process ${pid} runs it for another user and cannot be ended from here.`;
    const hint = prose`Let the user who started it stop it: ${meshwright('sim down')}`;
    throw new FleetError([diagnose('sim/no-answer', { detail, hint })]);
  }
}
