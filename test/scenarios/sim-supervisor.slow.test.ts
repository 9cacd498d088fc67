import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { askControl } from '../../src/sim/hosts/control/control.ts';
import { type RunFile, readRun, simulatedWeb } from '../../src/sim/hosts/control/run-folder.ts';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { startSupervisor, stopSupervisor } from '../../src/sim/hosts/control/supervisor.ts';
import { isSameProcess } from '../../src/sim/hosts/processes.ts';
import {
  bareModel,
  connect,
  eventually,
  freshFolder,
  markedProcesses,
  removeFolder,
  run,
  supervisorEntry,
} from '../rack/running.ts';

const folders: string[] = [];
afterEach(async () => {
  const used = folders.splice(0);
  for (const folder of used) await stopSupervisor(folder);
  for (const folder of used) await removeFolder(folder);
});

async function fresh(...below: readonly string[]): Promise<string> {
  const folder = await freshFolder();
  folders.push(folder, ...(below.length > 0 ? [join(folder, ...below)] : []));
  const whole = join(folder, ...below);
  await mkdir(whole, { recursive: true });
  return whole;
}

const up = (folder: string) => startSupervisor({ entry: supervisorEntry(folder), folder });

/** The parts of a fleet in a different process that the client helpers need. */
async function reach(run: RunFile): Promise<Fleet> {
  const privateText = await readFile(run.userKeyFile, 'utf8');
  const model = await startFleet({ folder: await fresh(), model: bareModel([]) });
  await model.stop();
  return { ...model, nodes: run.nodes, userKey: { path: run.userKeyFile, privateText, publicText: '' } };
}

const isLinux = process.platform === 'linux';
const background = 'sleep 300 >/dev/null 2>&1 </dev/null & sleep 301';

describe('a supervisor', () => {
  it('protects its files from other users', async () => {
    const folder = await fresh();
    const { run: file } = await up(folder);
    const modes = await Promise.all(
      [folder, join(folder, 'run.json'), file.userKeyFile].map(async (path) => (await stat(path)).mode & 0o777),
    );
    expect(modes).toEqual([0o700, 0o600, 0o600]);
  });

  it('serves a Hub under its real name until it stops', async () => {
    const folder = await fresh();
    const { run: file } = await up(folder);
    const web = await simulatedWeb(folder);
    expect(web?.origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await readFile(web?.caFile ?? '', 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----/);
    const client = await connect(await reach(file), 'studio-1');
    const asked = await run(client, 'curl -q -f -s -S -m 20 https://huggingface.co/api/models/acme/tiny');
    expect(JSON.parse(asked.stdout)).toMatchObject({ id: 'acme/tiny', private: false });
    client.end();
    await stopSupervisor(folder);
    expect(await simulatedWeb(folder)).toBe(undefined);
    await expect(fetch(web?.origin ?? '')).rejects.toThrow();
  });

  it('keeps its ports and host keys across a restart', async () => {
    const folder = await fresh();
    const { run: before } = await up(folder);
    await stopSupervisor(folder);
    const { run: after } = await up(folder);
    const pick = (file: RunFile) => Object.values(file.nodes).map(({ port, hostKey }) => [port, hostKey]);
    expect(pick(after)).toEqual(pick(before));
    expect(after.runId).not.toBe(before.runId);
  });

  it.runIf(isLinux)('leaves no process after it was killed, and the next one takes over', async () => {
    const folder = await fresh();
    const { run: file } = await up(folder);
    const client = await connect(await reach(file), 'studio-1');
    const running = run(client, background).catch(() => undefined);
    expect(await eventually(async () => (await markedProcesses(file.runId)).length >= 3)).toBe(true);
    process.kill(file.pid, 'SIGKILL');
    await running;
    expect(await eventually(async () => (await markedProcesses(file.runId)).length === 0)).toBe(true);
    expect((await readRun(folder)).kind).toBe('dead');
    expect((await up(folder)).kind).toBe('started');
    expect((await stopSupervisor(folder)).kind).toBe('stopped');
  });

  it('counts as silent if it does not answer, and can still be stopped', async () => {
    const folder = await fresh();
    const { run: file } = await up(folder);
    process.kill(file.pid, 'SIGSTOP');
    expect((await readRun(folder)).kind).toBe('silent');
    expect((await stopSupervisor(folder)).kind).toBe('stopped');
    expect((await readRun(folder)).kind).toBe('none');
  });

  it('ends when its folder is removed', async () => {
    const folder = await fresh();
    const { run: file } = await up(folder);
    await removeFolder(folder);
    expect(await eventually(async () => !(await isSameProcess(file.pid, file.pidStart)))).toBe(true);
  });

  it('reports the reason for a failed start from its log', async () => {
    const folder = await fresh('broken');
    await expect(up(folder)).rejects.toThrow('sim/start-failed: the cluster file of this test is broken');
  });

  it('reports a program that does not exist', async () => {
    const folder = await fresh();
    const entry = ['/no/such/program'] as const;
    await expect(startSupervisor({ entry, folder })).rejects.toThrow(
      /sim\/start-failed: The simulator did not start.*ENOENT/,
    );
  });

  it('answers on its socket even if its folder has a long path', async () => {
    const folder = await fresh('a-rather-long-name-of-a-folder'.repeat(4), 'run');
    const { run: file } = await up(folder);
    expect(Buffer.byteLength(file.controlSocket)).toBeLessThan(104);
    const answer = await askControl(file.controlSocket, { ask: 'status' }, 60_000);
    expect(answer).toMatchObject({ simulated: true, ok: true, value: { run: { runId: file.runId }, faults: [] } });
  });

  it('starts only once if started twice in parallel', async () => {
    const folder = await fresh();
    const both = await Promise.all([up(folder), up(folder)]);
    expect(both[0].run.pid).toBe(both[1].run.pid);
    expect(both.map((one) => one.kind).sort()).toEqual(['already', 'started']);
  });
});
