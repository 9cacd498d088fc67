import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { isSameProcess, processStart } from '../../src/sim/hosts/processes.ts';
import { startSimFleet } from '../contract/sim-host.ts';
import { desiredRack } from '../rack/rack.ts';
import { connect, eventually, freshFolder, markedProcesses, removeFolder, run } from '../rack/running.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await removeFolder(folder);
});

async function fresh(): Promise<string> {
  const folder = await freshFolder();
  folders.push(folder);
  return folder;
}

const processes = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

/** The namespace of a process, by kind; undefined after its end. */
function namespaceOf(pid: string | number, kind: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`);
  } catch {
    return undefined;
  }
}

/** Every namespace of the processes of a fleet, without those of this process. */
async function namespacesOf(runId: string): Promise<ReadonlySet<string>> {
  const kinds = ['net', 'mnt', 'pid', 'uts', 'ipc'];
  const found = (await markedProcesses(runId)).flatMap((pid) => kinds.map((kind) => namespaceOf(pid, kind)));
  const own = kinds.map((kind) => namespaceOf('self', kind));
  return new Set(found.flatMap((one) => (one === undefined || own.includes(one) ? [] : [one])));
}

/** Every process in these namespaces, with its start time, since process and namespace numbers are reused. */
async function inhabitants(namespaces: ReadonlySet<string>): Promise<readonly (readonly [number, string])[]> {
  const kinds = ['net', 'mnt', 'pid', 'uts', 'ipc'];
  const inside = processes().filter((pid) => kinds.some((kind) => namespaces.has(namespaceOf(pid, kind) ?? '')));
  const found = await Promise.all(inside.map(async (pid) => [Number(pid), await processStart(Number(pid))] as const));
  return found.flatMap(([pid, start]) => (start === undefined ? [] : [[pid, start] as const]));
}

/** The number of these processes that are still alive. */
const alive = async (members: readonly (readonly [number, string])[]): Promise<number> =>
  (await Promise.all(members.map(([pid, start]) => isSameProcess(pid, start)))).filter((isAlive) => isAlive).length;

const mountsOf = (folder: string): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(folder));

const hiding = `/usr/bin/perl -MPOSIX -e 'fork and exit; POSIX::setsid(); exec "/bin/sleep", "300"' >/dev/null 2>&1 </dev/null`;

async function leaveOne(fleet: RunningFleet): Promise<void> {
  const client = await connect(fleet, 'studio-1');
  expect((await run(client, hiding)).code).toBe(0);
  client.end();
}

describe('a fleet in namespaces', () => {
  it('leaves no process, namespace, mount or folder when stopped while a second fleet runs', async () => {
    const [folder, otherFolder] = [await fresh(), await fresh()];
    const start = (at: string): Promise<RunningFleet> =>
      startSimFleet({ folder: at, model: modelledFleet(desiredRack, 'leftovers') }, 'namespace');
    const [fleet, other] = await Promise.all([start(folder), start(otherFolder)]);
    try {
      await leaveOne(fleet);
      const namespaces = await namespacesOf(fleet.runId);
      // All five kinds of namespaces per node, and the mount and network namespaces of the shared base.
      expect(namespaces.size).toBe(desiredRack.nodes.length * 5 + 2);
      expect(mountsOf(folder)).toEqual([]);
      const members = await inhabitants(namespaces);
      expect(members.length).toBeGreaterThan(desiredRack.nodes.length + 2);
      await fleet.stop();
      expect([await alive(members), await markedProcesses(fleet.runId)]).toEqual([0, []]);
      expect(readdirSync(folder).sort()).toEqual(['host-keys', 'roots', 'state.json', 'user-key', 'user-key.pub']);
      const client = await connect(other, 'studio-1');
      expect((await run(client, 'printf here')).stdout).toBe('here');
      client.end();
    } finally {
      await fleet.stop();
      await other.stop();
    }
    expect(existsSync('/run/netns/studio-1')).toBe(false);
  });

  it('stops along with the process that started it, even if that process is killed', async () => {
    const folder = await fresh();
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const entry = fileURLToPath(new URL('./fleet-entry.ts', import.meta.url));
    const child: ChildProcess = spawn(process.execPath, ['--import', tsx, entry, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (child.stdout === null) throw new Error('no output');
    const runId = await new Promise<string>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the fleet did not start')));
      if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', resolve);
    });
    const namespaces = await namespacesOf(runId);
    const members = await inhabitants(namespaces);
    expect(members.length).toBeGreaterThan(desiredRack.nodes.length + 2);
    child.kill('SIGKILL');
    expect(await eventually(async () => (await markedProcesses(runId)).length === 0)).toBe(true);
    expect(await eventually(async () => (await alive(members)) === 0)).toBe(true);
    expect(mountsOf(folder)).toEqual([]);
    // The next fleet in the same folder finds its Macs unchanged.
    const again = await startSimFleet({ folder, model: modelledFleet(desiredRack, 'leftovers') }, 'namespace');
    await again.stop();
  });
});
