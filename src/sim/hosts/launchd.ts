import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exit } from '../../model/probe.ts';
import { type JobDefinition, type JobReading, readJob } from '../launchd/job-definition.ts';
import {
  agentOverridesPath,
  agentUser,
  freshLaunchd,
  isDisabled,
  type JobSignal,
  type LaunchdAct,
  type LaunchdEvent,
  type LaunchdState,
  launchdTransition,
  overridesPath,
  pidOf,
  printText,
  signals,
} from '../launchd/launchd-state.ts';
import { isDict, plistText, readPlist } from '../model/plist.ts';
import type { Write } from '../tools/registry.ts';
import type { ToolAnswer } from './fleet-model.ts';
import type { StartedJob, StartJob } from './launchd-process.ts';
import { replaceFile } from './replace-file.ts';
import { createTurns } from './turns.ts';

interface LaunchdOptions {
  /** Absolute path of the folder that represents `/`. */
  readonly root: string;
  readonly startJob: StartJob;
  /** Converts the Mac's simulated milliseconds to real milliseconds. */
  readonly scaledMs: (macMs: number) => number;
  /** Converts milliseconds of start intervals into real milliseconds. */
  readonly intervalMs: (macMs: number) => number;
  /** Appends one line to the node's `/.sim/unknown`. */
  readonly objectTo: (line: string) => void;
  /** Called with every text of a job before the job is loaded, so that its addresses are known when it starts. */
  readonly beforeLoad: (texts: readonly string[]) => Promise<void>;
}

/** Creates a state that callers can wait for, and that is written to files after every change. */
function createShown(options: LaunchdOptions, files: ReturnType<typeof launchdFiles>) {
  const waiters = new Set<{ readonly isTrue: (state: LaunchdState) => boolean; readonly resolve: () => void }>();
  let state = freshLaunchd(new Map());
  let written: Promise<void> = Promise.resolve();
  const become = (wanted: LaunchdState): void => {
    if (wanted === state) return;
    state = wanted;
    const texts = [...state.services].map(([label, service]) => [label, printText(service)] as const);
    written = files.writePrints(new Map(texts));
    written.catch((error: unknown) => options.objectTo(`launchd: ${String(error)}`));
    for (const waiter of waiters) {
      if (!waiter.isTrue(state)) continue;
      waiters.delete(waiter);
      waiter.resolve();
    }
  };
  const until = (isTrue: (state: LaunchdState) => boolean): Promise<void> =>
    isTrue(state) ? Promise.resolve() : new Promise((resolve) => waiters.add({ isTrue, resolve }));
  return { state: () => state, become, until, settled: () => written };
}

/** Creates a node's launchd with real processes. Before the first boot, it has no services. */
export function createLaunchd(options: LaunchdOptions) {
  const files = launchdFiles(options.root);
  const shown = createShown(options, files);
  const handle = (event: LaunchdEvent): void => {
    const { state, acts } = launchdTransition(shown.state(), event);
    shown.become(state);
    for (const act of acts) runner.perform(act);
  };
  const runner = createRunner(options, handle);
  let isOver = false;
  let isUp = false;
  const core = (isCurrent = runner.untilCut()): LaunchdCore => ({
    ...shown,
    files,
    options,
    handle: (event) => {
      if (isCurrent() && !isOver) handle(event);
    },
  });
  const end = (): void => {
    runner.cut();
    shown.become(freshLaunchd(new Map()));
  };
  /** Power loss: kills everything immediately. */
  const cut = (): void => {
    isUp = false;
    end();
  };
  return {
    /** Runs a launchctl command; resolves when it is complete. `bootout` waits for the process to exit. */
    launchctl: async (call: LaunchctlCall): Promise<ToolAnswer> =>
      isUp ? answerLaunchctl(core(), call) : refusals.down,
    /** Boots macOS: loads the jobs in /Library/LaunchDaemons and starts those that run at load. */
    boot: async (): Promise<void> => {
      end();
      const isCurrent = runner.untilCut();
      const booting = core(isCurrent);
      await shown.settled().catch(() => undefined);
      await files.clearPrints();
      shown.become(freshLaunchd(await files.readOverrides(overridesPath)));
      for (const path of await files.daemons()) await load(booting, path, (key) => `launchd: ${path}: ${key}`);
      isUp = isCurrent() && !isOver;
      await shown.settled();
    },
    /** Sends TERM to every job, and KILL after its exit timeout. Resolves when all jobs have exited. */
    shutdown: async (): Promise<void> => {
      isUp = false;
      for (const label of shown.state().services.keys()) handle({ kind: 'unload', label });
      await shown.until(({ services }) => services.size === 0);
      end();
    },
    cut,
    /** Called when the fleet stops: kills everything immediately and starts nothing more. */
    close: (): void => {
      isOver = true;
      cut();
    },
    processes: runner.processes,
  };
}

export type Launchd = ReturnType<typeof createLaunchd>;

/**
 * Performs launchd's decisions with real processes and a scaled clock, and reports the results. `started` and
 * `not-started` are reported during the action itself. The timers do not keep the simulator alive.
 */
function createRunner({ startJob, scaledMs, intervalMs }: LaunchdOptions, handle: (event: LaunchdEvent) => void) {
  const running = new Map<string, StartedJob>();
  const startedAtMs = new Map<string, number>();
  /** Number of power cuts. Requests, exits and timers from before a cut are ignored. */
  let life = 0;
  const untilCut = (): (() => boolean) => {
    const born = life;
    return () => born === life;
  };
  const later = (ms: number, act: () => void): void => {
    const isCurrent = untilCut();
    setTimeout(() => isCurrent() && act(), ms).unref();
  };
  const start = (job: JobDefinition): void => {
    const { label } = job;
    const isCurrent = untilCut();
    const onEnd = (exit: Exit, pid: number): void => {
      if (running.get(label)?.pid === pid) running.delete(label);
      if (isCurrent()) handle({ kind: 'ended', label, exit });
    };
    const child = startJob(job, onEnd);
    startedAtMs.set(label, Date.now());
    if (child !== undefined) running.set(label, child);
    handle(child === undefined ? { kind: 'not-started', label } : { kind: 'started', label, pid: child.pid });
  };
  const performers: { readonly [K in LaunchdAct['kind']]: (act: Extract<LaunchdAct, { kind: K }>) => void } = {
    start: ({ job }) => start(job),
    signal: ({ label, signal }) => running.get(label)?.signal(signal),
    'kill-later': ({ label, pid, seconds }) =>
      later(scaledMs(seconds * 1000), () => {
        const child = running.get(label);
        if (child?.pid === pid) child.signal('SIGKILL');
      }),
    wake: ({ label, seconds }) => {
      const atMs = (startedAtMs.get(label) ?? 0) + scaledMs(seconds * 1000);
      later(Math.max(0, atMs - Date.now()), () => handle({ kind: 'due', label }));
    },
    recur: ({ label, job, seconds }) =>
      later(intervalMs(seconds * 1000), () => handle({ kind: 'interval', label, job })),
  };
  return {
    perform: (act: LaunchdAct): void => (performers[act.kind] as (act: LaunchdAct) => void)(act),
    processes: () => [...running].map(([label, { pid }]) => ({ label, pid })),
    /** Returns a check that power was not cut since this call. */
    untilCut,
    /** Kills everything; the resulting exits are not reported. */
    cut: (): void => {
      life += 1;
      for (const child of running.values()) child.signal('SIGKILL');
      running.clear();
    },
  };
}

/** Folder with one answer of `launchctl print` per label. */
const printFolder = '/.sim/launchd';

/** The folder of macOS's daemons, and the folder for all other daemons. */
const daemonFolders = ['/System/Library/LaunchDaemons', '/Library/LaunchDaemons'] as const;
const groupOrOtherWrites = 0o022;

async function readDefinition(root: string, path: string): Promise<JobReading> {
  const refused = (reason: string): JobReading => ({ kind: 'refused', reason });
  if (!path.startsWith('/') || path.split('/').includes('..')) return refused('the path is not absolute');
  const found = await stat(root + path).catch(() => undefined);
  if (found?.isFile() !== true) return refused('the file does not exist');
  if ((found.mode & groupOrOtherWrites) !== 0) return refused('other users can write to the file');
  return readJob(await readFile(root + path, 'utf8'));
}

function launchdFiles(root: string) {
  const folder = root + printFolder;
  let written: ReadonlyMap<string, string> = new Map();
  const turn = createTurns();
  /** From macOS's file: disabled (true) or enabled (false), by label. Empty if the file is not a valid list. */
  const readOverrides = async (path: string): Promise<ReadonlyMap<string, boolean>> => {
    const reading = readPlist(await readFile(root + path, 'utf8').catch(() => ''));
    if (reading.kind === 'refused' || !isDict(reading.value)) return new Map();
    const entries = Object.entries(reading.value);
    return new Map(entries.flatMap(([label, flag]) => (typeof flag === 'boolean' ? [[label, flag] as const] : [])));
  };
  const writeOverrides = (path: string, overrides: ReadonlyMap<string, boolean>): Promise<void> =>
    replaceFile(root + path, plistText(Object.fromEntries([...overrides].sort())));
  return {
    /** Replaces all answers of `launchctl print` with these, one at a time and each by a rename. */
    writePrints: (texts: ReadonlyMap<string, string>): Promise<void> =>
      turn(async () => {
        for (const [label, text] of texts) {
          if (written.get(label) !== text) await replaceFile(join(folder, label), text);
        }
        for (const label of written.keys()) if (!texts.has(label)) await rm(join(folder, label), { force: true });
        written = texts;
      }),
    /** Removes the files of an earlier run or boot. */
    clearPrints: async (): Promise<void> => {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      written = new Map();
    },
    readOverrides,
    writeOverrides,
    overrideAgent: (label: string, isDisabled: boolean): Promise<void> =>
      turn(async () => {
        const before = await readOverrides(agentOverridesPath);
        await writeOverrides(agentOverridesPath, new Map([...before, [label, isDisabled]]));
      }),
    /** The property lists in the folders for daemons, with their paths on the Mac, sorted within each folder. */
    daemons: async () => {
      const lists = daemonFolders.map(async (folder) => {
        const names = await readdir(root + folder).catch((): string[] => []);
        return names.filter((name) => name.endsWith('.plist')).map((name) => `${folder}/${name}`);
      });
      return (await Promise.all(lists)).flatMap((paths) => paths.sort());
    },
    readDefinition: (path: string) => readDefinition(root, path),
  };
}

/** launchd's state between two power losses. Requests from before a power loss cannot change it. */
interface LaunchdCore extends ReturnType<typeof createShown> {
  readonly files: ReturnType<typeof launchdFiles>;
  readonly options: LaunchdOptions;
  readonly handle: (event: LaunchdEvent) => void;
}

const failed = (exitCode: number, ...lines: readonly string[]): ToolAnswer => ({
  stdout: '',
  stderr: lines.map((line) => `${line}\n`).join(''),
  exitCode,
});

/** A successful answer; `stdout` is empty unless output was requested. */
const succeeded = (stdout = ''): ToolAnswer => ({ stdout, stderr: '', exitCode: 0 });

const bootstrapFailed = 'Bootstrap failed: 5: Input/output error';

/** launchctl's answers when launchd refuses. The exit codes are those observed on macOS 26. */
const refusals = {
  bootstrap: failed(5, bootstrapFailed),
  bootstrapByUser: failed(5, bootstrapFailed, 'Try re-running the command as root for richer errors.'),
  disabled: failed(119, 'Bootstrap failed: 119: Service is disabled'),
  notLoaded: failed(3, 'Boot-out failed: 3: No such process'),
  inProgress: failed(36, 'Boot-out failed: 36: Operation now in progress'),
  /** The Mac is shutting down or has not booted yet. */
  down: failed(125, '125: Domain does not support specified action'),
  noProcess: failed(3, 'No process to signal.'),
  noService: (label: string) => failed(113, `Could not find service "${label}" in domain for system`),
  notPermitted: (what: string) => failed(1, `${what}: 1: Operation not permitted`),
} as const;

/** launchctl's usage, for invalid command lines. */
const launchctlUsage = failed(64, 'Usage: launchctl <subcommand> ... | help [subcommand]');

/** Loads a valid definition. `objection` gives the text that is recorded for a key that is not simulated. */
async function load(core: LaunchdCore, path: string, objection: (key: string) => string): Promise<ToolAnswer> {
  const { files, options, state, handle } = core;
  const reading = await files.readDefinition(path);
  if (reading.kind === 'not-simulated') options.objectTo(objection(reading.key));
  if (reading.kind !== 'job') return refusals.bootstrap;
  const { job } = reading;
  if (isDisabled(state(), job)) return refusals.disabled;
  await options.beforeLoad([...job.words, ...Object.values(job.environment)]);
  if (state().services.has(job.label)) return refusals.bootstrap;
  handle({ kind: 'load', job, path });
  return succeeded();
}

/** Unloads a service and waits until it is gone. A second bootout in the meantime reports that one is in progress. */
async function bootout({ state, handle, until }: LaunchdCore, label: string): Promise<ToolAnswer> {
  const phase = state().services.get(label)?.phase;
  if (phase === undefined) return refusals.notLoaded;
  if (phase.kind === 'stopping' && phase.next === 'unload') return refusals.inProgress;
  handle({ kind: 'unload', label });
  await until(({ services }) => !services.has(label));
  return succeeded();
}

async function kickstart({ state, handle, until }: LaunchdCore, label: string, flags: string): Promise<ToolAnswer> {
  const phase = state().services.get(label)?.phase;
  if (phase === undefined) return refusals.noService(label);
  if (phase.kind === 'stopping' && phase.next === 'unload') return refusals.inProgress;
  handle({ kind: 'kick', label, isKilling: flags.includes('k') });
  await until(({ services }) => services.get(label)?.phase.kind !== 'stopping');
  const pid = pidOf(state().services.get(label));
  return succeeded(flags.includes('p') && pid !== undefined ? `${pid}\n` : '');
}

function kill({ state, handle }: LaunchdCore, label: string, signal: JobSignal): ToolAnswer {
  const service = state().services.get(label);
  if (service === undefined) return refusals.noService(label);
  if (pidOf(service) === undefined) return refusals.noProcess;
  handle({ kind: 'signal', label, signal });
  return succeeded();
}

async function override({ files, handle, state }: LaunchdCore, label: string, isDisabledNow: boolean) {
  handle({ kind: 'override', label, isDisabled: isDisabledNow });
  await files.writeOverrides(overridesPath, state().overrides);
  return succeeded();
}

interface LaunchctlCommand {
  readonly withoutRoot: ToolAnswer;
  readonly run: (core: LaunchdCore) => ToolAnswer | Promise<ToolAnswer>;
}

/** `SIGTERM`, `TERM` or `15`. */
function signalOf(word: string): JobSignal | undefined {
  return Object.entries(signals).find(([number, name]) => [number, name, name.slice(3)].includes(word))?.[1];
}

/** The label in `system/LABEL` or `user/501/LABEL`. */
const labelIn = (domain: string, target = ''): string | undefined => {
  const label = target.startsWith(`${domain}/`) ? target.slice(domain.length + 1) : '';
  return /^[A-Za-z0-9._-]{1,255}$/.test(label) ? label : undefined;
};

/** `[-k] [-p] system/LABEL`; the flags may be combined. */
function parseKickstart(words: readonly string[]): LaunchctlCommand | undefined {
  const flags = words.filter((word) => word.startsWith('-'));
  const [target, ...more] = words.slice(flags.length);
  const label = labelIn('system', target);
  if (label === undefined || more.length > 0 || !flags.every((flag) => /^-[kp]+$/.test(flag))) return undefined;
  const withoutRoot = refusals.notPermitted(`Could not kickstart service "${label}"`);
  return { withoutRoot, run: (core) => kickstart(core, label, flags.join('')) };
}

function parseLaunchctl(args: readonly string[], isRoot: boolean): LaunchctlCommand | undefined {
  const [verb = '', first = '', second, ...more] = args;
  if (verb === 'kickstart') return parseKickstart(args.slice(1));
  if (more.length > 0) return undefined;
  if (verb === 'bootstrap' && first === 'system' && second !== undefined && second !== '') {
    const objection = (key: string): string => `/bin/launchctl 3:bootstrap system ${second} (${key})`;
    return { withoutRoot: refusals.bootstrapByUser, run: (core) => load(core, second, objection) };
  }
  if (verb === 'kill') {
    const signal = signalOf(first);
    const label = labelIn('system', second);
    if (signal === undefined || label === undefined) return undefined;
    return { withoutRoot: refusals.notPermitted('Could not signal service'), run: (core) => kill(core, label, signal) };
  }
  if (second !== undefined) return undefined;
  const label = labelIn('system', first);
  if (verb === 'bootout' && label !== undefined)
    return { withoutRoot: refusals.notPermitted('Boot-out failed'), run: (core) => bootout(core, label) };
  if (verb !== 'enable' && verb !== 'disable') return undefined;
  const withoutRoot = refusals.notPermitted(`Could not ${verb} service`);
  if (label !== undefined) return { withoutRoot, run: (core) => override(core, label, verb === 'disable') };
  // Overrides by a user in that user's own domain are not simulated.
  const agent = isRoot ? labelIn(`user/${agentUser}`, first) : undefined;
  if (agent === undefined) return undefined;
  // Agents are not simulated, so an override is stored in its file and has no other effect.
  return { withoutRoot, run: ({ files }) => files.overrideAgent(agent, verb === 'disable').then(() => succeeded()) };
}

type LaunchctlCall = Pick<Write, 'args' | 'isRoot'>;

/** Runs one launchctl command and answers when it is complete, including its files. */
async function answerLaunchctl(core: LaunchdCore, { args, isRoot }: LaunchctlCall): Promise<ToolAnswer> {
  const command = parseLaunchctl(args, isRoot);
  if (command === undefined) {
    core.options.objectTo(`/bin/launchctl ${args.length}:${args.join(' ').replaceAll('\n', '?')}`);
    return launchctlUsage;
  }
  if (!isRoot) return command.withoutRoot;
  const answered = await command.run(core);
  await core.settled();
  return answered;
}
