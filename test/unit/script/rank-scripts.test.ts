import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RankRecord, ScriptCall } from '../../../src/model/node-script.ts';
import { nodePath } from '../../../src/script/node-paths.ts';
import { scriptBody } from '../../../src/script/node-scripts/registry.ts';
import { fileSeal, putBody } from '../../../src/script/put-file.ts';
import {
  placementFolder,
  rankLog,
  rdmaStartsFile,
  requestFile,
  serviceFile,
  startFile,
} from '../../../src/script/rank-paths.ts';
import { bootSession, changed, type MacRoot, makeMacRoot, run, unchanged } from './mac-root.ts';
import { until } from './node-root.ts';
import { exampleRecord } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const roots: MacRoot[] = [];
afterAll(() => {
  for (const root of roots) {
    for (const pid of processesOf(root)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    root.remove();
  }
});

/** Whether a process is there and has not ended: nobody waits for some of them here. */
const isAlive = (pid: number): boolean =>
  /^[^Z]/.test(spawnSync('/bin/ps', ['-o', 'stat=', '-p', String(pid)]).stdout.toString());

/** Everything that ever ran as the rank, or was started by it. */
const processesOf = (root: MacRoot): readonly number[] =>
  root.has('../ran') ? root.read('../ran').split('\n').filter(Boolean).map(Number) : [];

/** launchd for one service: a job is the leader of its own group, as on a Mac. */
const launchctl = `s="$R/../launchd"
case $1 in
(print)
  [ -e "$s/loaded" ] || { printf 'Bad request.\\nCould not find service "%s" in domain for system\\n' "$2" >&2; exit 113; }
  pid=$(/bin/cat "$s/pid" 2>/dev/null)
  printf '%s = {\\n\\tactive count = 0\\n' "$2"
  case $([ -z "$pid" ] || /bin/ps -o stat= -p "$pid") in ('' | Z*) pid= ;; esac
  if [ -e "$s/scheduled" ] && [ -n "$pid" ]; then
    printf x >>"$s/scheduled"
    [ "$(/bin/cat "$s/scheduled")" = xxxxxxxxxxxx ] && /bin/rm "$s/scheduled"
    printf '\\tstate = spawn scheduled\\n'
  elif [ -n "$pid" ]; then printf '\\tstate = running\\n\\n\\tprogram = x\\n\\truns = 1\\n\\tpid = %s\\n' "$pid"
  else printf '\\tstate = not running\\n\\targuments = {\\n\\t\\tpid = 1\\n\\t}\\n\\truns = 0\\n'; fi
  printf '}\\n' ;;
(bootstrap)
  [ -e "$s/broken" ] && { printf 'Bootstrap failed: 5: Input/output error\\n' >&2; exit 5; }
  [ -e "$s/loaded" ] && { printf 'Bootstrap failed: 5: Input/output error\\n' >&2; exit 5; }
  : >"$s/loaded" ;;
(bootout)
  [ -e "$s/loaded" ] || { printf 'Boot-out failed: 3: No such process\\n' >&2; exit 3; }
  /bin/rm -f "$s/loaded" "$s/pid" ;;
(kickstart)
  [ -e "$s/loaded" ] || exit 113
  /usr/bin/perl -e 'use POSIX; POSIX::setsid(); exec @ARGV' /bin/sh "$R/../program" "$R/../ran" </dev/null >/dev/null 2>&1 &
  printf '%s' "$!" >"$s/pid"
  [ ! -e "$s/slow" ] || wait "$!" || : ;;
(kill) p=$(/bin/cat "$s/pid") && kill -s "\${2#SIG}" "$p" ;;
esac`;

/** What a rank does; it writes the numbers of its processes into its first argument. */
const programs = {
  obeys: 'printf "%s\\n" "$$" >>"$1"\nexec /bin/sleep 600',
  ignores: 'printf "%s\\n" "$$" >>"$1"\ntrap "" TERM\nexec /bin/sleep 600',
  'leaves a child': `printf "%s\\n" "$$" >>"$1"
(trap "" TERM; exec /bin/sleep 600) &
printf "%s\\n" "$!" >>"$1"
trap 'exit 0' TERM
wait`,
  'ends at once': 'exit 3',
};

function newRoot(shell: Shell, program: keyof typeof programs = 'obeys'): MacRoot {
  const root = makeMacRoot(shell);
  root.file('../launchd/x', '');
  root.file('../program', programs[program]);
  root.recorded('bin/launchctl', launchctl);
  root.file(serviceFile('kimi').path, '<plist/>');
  roots.push(root);
  return root;
}

const record = (more: Partial<RankRecord> = {}, user = 'mesh'): ScriptCall => ({
  name: 'bootstrap-rank',
  args: { record: { ...exampleRecord, ...more }, request: '{"prompt":"it\'s \\n"}', user },
});
const kick = (generation = 3, transport: 'rdma' | 'tcp' = 'tcp'): ScriptCall => ({
  name: 'kick-rank',
  args: { placement: 'kimi', generation, transport, startMs: 30_000 },
});
const stop = (graceMs = 250): ScriptCall => ({ name: 'stop-rank', args: { placement: 'kimi', graceMs } });
const remove: ScriptCall = { name: 'remove-rank', args: { placement: 'kimi' } };
const recordOf = (root: MacRoot): readonly string[] => root.read(`${placementFolder('kimi').path}/record`).split('\n');
const writes = (root: MacRoot): readonly string[] => root.calls().filter((call) => !call.startsWith('launchctl print'));
const isRunning = (root: MacRoot): Promise<void> => until(() => processesOf(root).some(isAlive));

async function started(shell: Shell, program: keyof typeof programs): Promise<MacRoot> {
  const root = newRoot(shell, program);
  await run(root, record());
  expect(await run(root, kick())).toEqual(changed);
  await isRunning(root);
  return root;
}

describe.concurrent.each(scriptShells)('a member that is made ready under $name', (shell) => {
  it('leaves its record and its request, and starts nothing', async () => {
    const root = newRoot(shell);
    expect(await run(root, record())).toEqual(changed);
    expect(recordOf(root)).toEqual([
      ...Object.entries(exampleRecord).map(([key, value]) => `${key}=${value}`),
      'startedIn=',
      'starts=0',
      '',
    ]);
    expect(root.read(requestFile('kimi').path)).toBe('{"prompt":"it\'s \\n"}');
    expect(writes(root)).toEqual([
      `chown mesh ${root.folder}${rankLog('kimi').path}`,
      'launchctl enable system/dev.meshwright.rank.kimi',
      `launchctl bootstrap system ${root.folder}${serviceFile('kimi').path}`,
    ]);
    expect([await run(root, record()), processesOf(root)]).toEqual([unchanged, []]);
  });

  it('gives the log that is there to whoever the rank runs as, without a name to whoever asked sudo', async () => {
    const root = newRoot(shell);
    root.file(rankLog('kimi').path, 'said as root\n');
    await run(root, record({}, ''));
    expect(root.read(rankLog('kimi').path)).toBe('said as root\n');
    expect(writes(root)[0]).toBe(`chown ${process.env['SUDO_USER'] ?? 'root'} ${root.folder}${rankLog('kimi').path}`);
  });

  it('is made ready again when launchd knows an older one that is idle, and never while that one runs', async () => {
    const root = newRoot(shell);
    await run(root, record());
    expect(await run(root, record({ generation: 4 }))).toEqual(changed);
    expect(writes(root).slice(3)).toEqual([
      'launchctl bootout system/dev.meshwright.rank.kimi',
      `chown mesh ${root.folder}${rankLog('kimi').path}`,
      'launchctl enable system/dev.meshwright.rank.kimi',
      `launchctl bootstrap system ${root.folder}${serviceFile('kimi').path}`,
    ]);
    await run(root, kick(4));
    await isRunning(root);
    expect(await run(root, record({ generation: 5 }))).toMatchObject({ kind: 'failed', slug: 'still-running' });
    expect(recordOf(root)).toContain('generation=4');
    expect(await run(root, stop(5_000))).toMatchObject({ said: ['ended=clean'] });
  });

  it('fails without its service file, and where launchd does not take it', async () => {
    const root = newRoot(shell);
    root.tool('bin/sleep', 'exit 0');
    root.file('../launchd/broken', '');
    expect(await run(root, record())).toEqual({
      kind: 'failed',
      slug: 'launchctl',
      text: 'Bootstrap failed: 5: Input/output error',
    });
    expect(writes(root).filter((call) => call.includes('bootstrap'))).toHaveLength(3);
    rmSync(join(root.folder, serviceFile('kimi').path));
    expect(await run(root, record())).toMatchObject({ slug: 'no-service-file' });
  });
});

describe.concurrent.each(scriptShells)('a member that is started under $name', (shell) => {
  it('counts its start in this boot session, over generations, and not in another one', async () => {
    const root = await started(shell, 'obeys');
    expect(recordOf(root).slice(-3)).toEqual([`startedIn=${bootSession}`, 'starts=1', '']);
    expect([await run(root, kick()), recordOf(root).at(-2)]).toEqual([unchanged, 'starts=1']);
    await run(root, stop());
    await run(root, record({ generation: 4 }));
    expect(recordOf(root).slice(-3)).toEqual([`startedIn=${bootSession}`, 'starts=1', '']);
    await run(root, kick(4));
    expect(recordOf(root).at(-2)).toBe('starts=2');
    await run(root, stop());
    root.file('../boot', 'F2B1C3D4-0000-4000-8000-000000000002\n');
    await run(root, record({ generation: 5 }));
    await run(root, kick(5));
    expect(recordOf(root).slice(-3)).toEqual(['startedIn=F2B1C3D4-0000-4000-8000-000000000002', 'starts=1', '']);
    await run(root, stop());
  });

  it('is not started when it was not made ready, or as another generation', async () => {
    const root = newRoot(shell);
    expect(await run(root, kick())).toMatchObject({ slug: 'no-record' });
    await run(root, record());
    expect(await run(root, kick(2))).toMatchObject({ slug: 'other-generation' });
    await run(root, stop());
    expect(await run(root, kick())).toMatchObject({ slug: 'not-loaded' });
    expect(processesOf(root)).toEqual([]);
  });

  it('is waited for while launchd puts its start off', async () => {
    const root = newRoot(shell);
    root.tool('bin/sleep', 'exit 0');
    await run(root, record());
    root.file('../launchd/scheduled', '');
    expect(await run(root, kick())).toEqual(changed);
    await isRunning(root);
    root.tool('bin/sleep', 'exec /bin/sleep "$@"');
    await run(root, stop());
  });

  it('that ends at once is told, and counted', async () => {
    const root = newRoot(shell, 'ends at once');
    root.file('../launchd/slow', '');
    await run(root, record());
    expect(await run(root, kick())).toMatchObject({ kind: 'failed', slug: 'ended-at-once' });
    expect(recordOf(root).at(-2)).toBe('starts=1');
  });
});

describe.concurrent.each(scriptShells)('a start over RDMA under $name', (shell) => {
  const linesOf = (root: MacRoot, path: string): readonly string[] => root.read(path).trim().split('\n');
  const counted = (root: MacRoot): readonly string[] => linesOf(root, rdmaStartsFile.path);
  const marked = (root: MacRoot): readonly string[] => linesOf(root, startFile('kimi').path);

  it('is counted on the node, and no removal of the placement takes the count away', async () => {
    const root = newRoot(shell);
    await run(root, record());
    expect(await run(root, kick(3, 'rdma'))).toEqual(changed);
    await isRunning(root);
    expect(counted(root)).toEqual([`boot=${bootSession}`, 'starts=1']);
    expect(await run(root, kick(3, 'rdma'))).toEqual(unchanged);
    await run(root, stop());
    await run(root, remove);
    root.file(serviceFile('kimi').path, '<plist/>');
    await run(root, record({ generation: 4 }));
    await run(root, kick(4, 'rdma'));
    expect(counted(root)).toEqual([`boot=${bootSession}`, 'starts=2']);
    await run(root, stop());
    const next = 'F2B1C3D4-0000-4000-8000-000000000002';
    root.file('../boot', `${next}\n`);
    await run(root, record({ generation: 5 }));
    await run(root, kick(5, 'rdma'));
    expect(counted(root)).toEqual([`boot=${next}`, 'starts=1']);
    await run(root, stop());
  });

  it('leaves a mark with its process, the end of its time, and where its log begins', async () => {
    const root = newRoot(shell);
    await run(root, record());
    root.file(rankLog('kimi').path, 'of before\n');
    await run(root, kick(3, 'rdma'));
    await isRunning(root);
    const [boot, until, log, pid] = marked(root);
    expect([boot, log]).toEqual([`boot=${bootSession}`, 'log=10']);
    expect(until).toMatch(/^until=\d{10}$/);
    expect(pid).toBe(`pid=${processesOf(root)[0]}`);
    await run(root, stop());
  });

  it('that ends at once has no process any more', async () => {
    const root = newRoot(shell, 'ends at once');
    root.file('../launchd/slow', '');
    await run(root, record());
    expect(await run(root, kick(3, 'rdma'))).toMatchObject({ slug: 'ended-at-once' });
    expect([counted(root)[1], marked(root)[3]]).toEqual(['starts=1', 'pid=0']);
  });

  it('alone is counted: TCP takes nothing of a device', async () => {
    const root = await started(shell, 'obeys');
    expect([rdmaStartsFile, startFile('kimi')].map(({ path }) => root.has(path))).toEqual([false, false]);
    await run(root, stop());
  });
});

describe.concurrent.each(scriptShells)('a member that is stopped under $name', (shell) => {
  it('ends by itself where it obeys, and launchd forgets it', async () => {
    const root = await started(shell, 'obeys');
    expect(await run(root, stop(5_000))).toEqual({ kind: 'done', isChanged: true, said: ['ended=clean'] });
    expect(processesOf(root).filter(isAlive)).toEqual([]);
    expect(writes(root).slice(-2)).toEqual([
      'launchctl kill SIGTERM system/dev.meshwright.rank.kimi',
      'launchctl bootout system/dev.meshwright.rank.kimi',
    ]);
    expect(await run(root, stop())).toEqual(unchanged);
  });

  it('is killed after its time of grace, with everything that it has started', async () => {
    for (const program of ['ignores', 'leaves a child'] as const) {
      const root = await started(shell, program);
      await until(() => processesOf(root).length === (program === 'ignores' ? 1 : 2));
      expect([program, await run(root, stop())]).toEqual([
        program,
        { kind: 'done', isChanged: true, said: ['ended=killed'] },
      ]);
      expect(processesOf(root).filter(isAlive)).toEqual([]);
    }
  });

  it('is found again where launchd has forgotten it, by the number and the start of its process', async () => {
    const root = await started(shell, 'ignores');
    rmSync(join(root.folder, '../launchd/loaded'));
    expect(await run(root, stop())).toEqual({ kind: 'done', isChanged: true, said: ['ended=killed'] });
    expect(processesOf(root).filter(isAlive)).toEqual([]);
  });

  it('never takes a process with the same number for its own', async () => {
    const root = newRoot(shell);
    await run(root, record());
    rmSync(join(root.folder, '../launchd/loaded'));
    const folder = placementFolder('kimi').path;
    root.file(`${folder}/process`, `boot=${bootSession}\npid=${process.pid}\nstart=Mon Jan  1 00:00:00 2001\n`);
    expect(await run(root, stop())).toEqual(unchanged);
    root.file(`${folder}/process`, `boot=another\npid=${process.pid}\nstart=\n`);
    expect(await run(root, stop())).toEqual(unchanged);
  });

  it('needs a restart of the Mac when not even KILL ends it', async () => {
    const root = await started(shell, 'obeys');
    root.tool('bin/sleep', 'exit 0');
    root.tool('bin/ps', 'printf "%s 1 %s U\\n" "$(/bin/cat "$R/../launchd/pid")" "$(/bin/cat "$R/../launchd/pid")"');
    const { result } = await root.runBody(scriptBody(stop(0)));
    expect(result).toMatchObject({ kind: 'failed', slug: 'needs-reboot' });
    expect(root.has('../launchd/loaded')).toBe(true);
  });

  it('is stopped where it is idle, without a record, or was never there', async () => {
    const root = newRoot(shell);
    expect(await run(root, stop())).toEqual(unchanged);
    await run(root, record());
    rmSync(join(root.folder, placementFolder('kimi').path), { recursive: true });
    expect(await run(root, stop())).toEqual({ kind: 'done', isChanged: true, said: ['ended=clean'] });
    expect(root.has('../launchd/loaded')).toBe(false);
  });
});

describe.concurrent.each(scriptShells)('a member that is removed under $name', (shell) => {
  it('leaves nothing, and is not removed while it runs', async () => {
    const root = await started(shell, 'obeys');
    const path = nodePath(serviceFile('kimi').path as '/x');
    await root.runBody(putBody({ path, mode: 0o644, content: ['<plist/>\n'], rootPrefix: root.folder, login: 'mesh' }));
    root.file(rankLog('kimi').path, 'hello\n');
    expect(await run(root, remove)).toMatchObject({ kind: 'failed', slug: 'still-running' });
    await run(root, stop());
    expect(await run(root, remove)).toEqual(changed);
    for (const gone of [serviceFile('kimi'), fileSeal(path), rankLog('kimi'), placementFolder('kimi')]) {
      expect([gone.path, root.has(gone.path)]).toEqual([gone.path, false]);
    }
    expect(await run(root, remove)).toEqual(unchanged);
  });
});
