import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLaunchd, type Launchd } from '../../src/sim/hosts/launchd.ts';
import { startBelow } from '../../src/sim/hosts/launchd-process.ts';
import {
  createProcessGroups,
  type Lifeline,
  type ProcessGroups,
  startLifeline,
} from '../../src/sim/hosts/processes.ts';
import { eventually } from '../rack/running.ts';
import { jobPlist } from '../unit/sim/launchd-job.ts';

let root = '';
let lifeline: Lifeline;
let groups: ProcessGroups;
let launchd: Launchd;
/** Texts of jobs that were about to be loaded, and lines that were not understood. */
let announced: (readonly string[])[] = [];
let odd: string[] = [];
let beforeLoad: () => Promise<void>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mw-launchd-'));
  for (const folder of ['Library/LaunchDaemons', 'tmp']) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, 'job'), '#!/bin/sh\nprintf "up\\n"\nwhile :; do sleep 0.02; done\n', { mode: 0o755 });
  [announced, odd] = [[], []];
  beforeLoad = () => Promise.resolve();
  lifeline = startLifeline('launchd-boots');
  groups = createProcessGroups(lifeline);
  launchd = createLaunchd({
    root,
    startJob: startBelow({ name: 'node', root, mark: () => 'launchd-boots.node.0', groups }),
    scaledMs: (macMs) => macMs / 20,
    intervalMs: (macMs) => macMs / 200,
    objectTo: (line) => odd.push(line),
    beforeLoad: async (texts) => {
      announced.push(texts);
      await beforeLoad();
    },
  });
});
afterEach(async () => {
  launchd.close();
  groups.killAll();
  await lifeline.close();
  await rm(root, { recursive: true, force: true });
});

type Keys = Parameters<typeof jobPlist>[0];
const writeJob = (name: string, keys: Keys = {}): Promise<void> =>
  writeFile(
    join(root, `Library/LaunchDaemons/${name}.plist`),
    jobPlist({ Label: name, ProgramArguments: [join(root, 'job'), '10.77.0.1:51000'], ...keys }),
  );
const asRoot = async (...args: readonly string[]) => (await launchd.launchctl({ args, isRoot: true })).exitCode;
const states = async (): Promise<readonly string[]> => {
  const names = (await readdir(join(root, '.sim/launchd'))).filter((name) => name.startsWith('dev.')).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(root, '.sim/launchd', name), 'utf8');
      return `${name}: ${/^\tstate = (.*)$/m.exec(text)?.[1]}`;
    }),
  );
};
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the boot of a simulated Mac', () => {
  it('loads the property lists in its folder and starts only jobs with RunAtLoad or KeepAlive', async () => {
    await writeJob('dev.waits');
    await writeJob('dev.runs', { RunAtLoad: true });
    await writeJob('dev.kept', { KeepAlive: true });
    await writeFile(join(root, 'Library/LaunchDaemons/note.txt'), 'no list');
    await writeFile(join(root, 'Library/LaunchDaemons/dev.broken.plist'), 'no list');
    await writeJob('dev.odd', { WatchPaths: ['/x'] });
    await launchd.boot();
    expect(await states()).toEqual(['dev.kept: running', 'dev.runs: running', 'dev.waits: not running']);
    expect(launchd.processes().map(({ label }) => label)).toEqual(['dev.kept', 'dev.runs']);
    expect(announced).toHaveLength(3);
    expect(announced[0]).toContain('10.77.0.1:51000');
    expect(odd).toEqual(['launchd: /Library/LaunchDaemons/dev.odd.plist: WatchPaths']);
  });

  it('forgets manual starts and run counts', async () => {
    await writeJob('dev.waits');
    await launchd.boot();
    await asRoot('kickstart', 'system/dev.waits');
    const [{ pid } = { pid: 0 }] = launchd.processes();
    expect([await states(), isAlive(pid)]).toEqual([['dev.waits: running'], true]);
    await launchd.shutdown();
    expect([launchd.processes(), isAlive(pid)]).toEqual([[], false]);
    await launchd.boot();
    expect(await states()).toEqual(['dev.waits: not running']);
    expect(await readFile(join(root, '.sim/launchd/dev.waits'), 'utf8')).toContain('\truns = 0\n');
  });

  it('remembers disabled jobs', async () => {
    await writeJob('dev.runs', { RunAtLoad: true });
    await writeJob('dev.other', { Disabled: true });
    await launchd.boot();
    expect([await asRoot('disable', 'system/dev.runs'), await asRoot('enable', 'system/dev.other')]).toEqual([0, 0]);
    await launchd.shutdown();
    await launchd.boot();
    expect(await states()).toEqual(['dev.other: not running']);
  });

  it('does not load a property list that others can write, or a label twice', async () => {
    await writeJob('dev.a');
    await writeFile(join(root, 'Library/LaunchDaemons/dev.b.plist'), jobPlist({ Label: 'dev.a', Program: '/x' }));
    await writeFile(join(root, 'Library/LaunchDaemons/dev.c.plist'), jobPlist({ Program: '/x' }));
    await chmod(join(root, 'Library/LaunchDaemons/dev.c.plist'), 0o664);
    await launchd.boot();
    expect(await states()).toEqual(['dev.a: not running']);
    expect(await readFile(join(root, '.sim/launchd/dev.a'), 'utf8')).toContain('/Library/LaunchDaemons/dev.a.plist');
  });
});

describe('a simulated launchd job with KeepAlive', () => {
  const runsOf = async (): Promise<string | undefined> =>
    /^\truns = (.*)$/m.exec(await readFile(join(root, '.sim/launchd/dev.kept'), 'utf8'))?.[1];
  /** Kills the processes of all jobs, and returns the labels. */
  const killed = (): readonly string[] =>
    launchd.processes().map(({ label, pid }) => {
      process.kill(pid, 'SIGKILL');
      return label;
    });

  it('waits for its throttle interval unless it is kickstarted', async () => {
    await writeJob('dev.kept', { KeepAlive: true, ThrottleInterval: 80_000 });
    await launchd.boot();
    killed();
    expect(await eventually(async () => (await states())[0] === 'dev.kept: spawn scheduled')).toBe(true);
    expect([await asRoot('kickstart', 'system/dev.kept'), await runsOf()]).toEqual([0, '2']);
  });
});

describe('a simulated launchd job with StartInterval', () => {
  const printed = (): Promise<string> => readFile(join(root, '.sim/launchd/dev.again'), 'utf8');

  it('is started once per interval, as launchctl shows, until it is unloaded', async () => {
    await writeFile(join(root, 'job'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    await writeJob('dev.again', { StartInterval: 10 });
    await launchd.boot();
    expect(await printed()).toMatch(/\n\trun interval = 10 seconds\n/);
    expect(await eventually(async () => /\n\truns = [3-9]\n/.test(await printed()))).toBe(true);
    expect(await asRoot('bootout', 'system/dev.again')).toBe(0);
    expect(launchd.processes()).toEqual([]);
  });
});

describe('the shutdown of a simulated Mac', () => {
  it('kills a job that ignores TERM once its exit timeout has passed', async () => {
    await writeFile(join(root, 'job'), "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.02; done\n", { mode: 0o755 });
    await writeJob('dev.stays', { RunAtLoad: true });
    await launchd.boot();
    const [{ pid } = { pid: 0 }] = launchd.processes();
    await launchd.shutdown();
    expect([isAlive(pid), groups.count()]).toEqual([false, 0]);
  });

  it('starts nothing again after a power loss', async () => {
    await writeJob('dev.kept', { KeepAlive: true, ThrottleInterval: 0 });
    await launchd.boot();
    const [{ pid } = { pid: 0 }] = launchd.processes();
    launchd.cut();
    expect(await eventually(() => !isAlive(pid))).toBe(true);
    expect([launchd.processes(), await asRoot('kickstart', 'system/dev.kept')]).toEqual([[], 125]);
    await launchd.boot();
    expect(await states()).toEqual(['dev.kept: running']);
  });

  it.each(['cut', 'close'] as const)('does not start a job that is just being loaded: %s', async (end) => {
    await launchd.boot();
    await writeJob('dev.late', { RunAtLoad: true, KeepAlive: true, ThrottleInterval: 0 });
    // The reboot happens while the job is announced.
    beforeLoad = async () => launchd[end]();
    await asRoot('bootstrap', 'system', '/Library/LaunchDaemons/dev.late.plist');
    expect([announced.length, launchd.processes(), groups.count()]).toEqual([1, [], 0]);
    await launchd.boot();
    expect([announced.length, launchd.processes(), groups.count()]).toEqual([2, [], 0]);
  });

  it('does not start a Mac after the fleet has ended', async () => {
    await writeJob('dev.kept', { KeepAlive: true, ThrottleInterval: 0 });
    launchd.close();
    await launchd.boot();
    expect([launchd.processes(), groups.count()]).toEqual([[], 0]);
  });

  it('answers a waiting bootout', async () => {
    await writeFile(join(root, 'job'), "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.02; done\n", { mode: 0o755 });
    await writeJob('dev.stays', { RunAtLoad: true, ExitTimeOut: 600 });
    await launchd.boot();
    const waiting = asRoot('bootout', 'system/dev.stays');
    launchd.cut();
    expect(await waiting).toBe(0);
  });
});
