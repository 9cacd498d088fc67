import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'ssh2';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { sharedFolder } from '../rack/kept-running.ts';
import { desiredRack } from '../rack/rack.ts';
import { connect, eventually, run } from '../rack/running.ts';
import { jobPlist } from '../unit/sim/launchd-job.ts';

const folder = sharedFolder('mw test ');
let fleet: Fleet;
let client: Client;
let root = '';
beforeAll(async () => {
  fleet = await startFleet({ folder, model: modelledFleet(desiredRack, 'launchd') });
  root = fleet.nodes['studio-1']?.root ?? '';
  client = await connect(fleet, 'studio-1');
});
afterAll(async () => {
  client.end();
  await fleet.stop();
});

const macPath = '/Library/LaunchDaemons/dev.test.plist';
const program = (): string => join(root, 'opt/job');

/** A program that prints its state and waits for a signal; `body` runs first. */
async function writeProgram(body = ''): Promise<void> {
  await mkdir(join(root, 'opt'), { recursive: true });
  const text = `#!/bin/sh\n${body}\ntrap 'printf "ended\\n"; exit 3' TERM\nprintf 'started\\n'\nwhile :; do sleep 0.02; done\n`;
  await writeFile(program(), text);
  await chmod(program(), 0o755);
}

type Keys = Parameters<typeof jobPlist>[0];
const writePlist = (keys: Keys = {}): Promise<void> =>
  writeFile(
    join(root, macPath),
    jobPlist({ ProgramArguments: [program()], StandardOutPath: join(root, 'tmp/out'), ...keys }),
  );

/** Runs lines as root, like the product. */
const asRoot = (script: string) => run(client, `exec "${root}/usr/bin/sudo" -n "${root}/bin/sh" -s`, script);
const launchctl = async (...words: readonly string[]) => {
  const ran = await asRoot(`"${root}/bin/launchctl" ${words.join(' ')}\n`);
  return [ran.code, ran.stdout + ran.stderr];
};
const bootstrap = () => launchctl('bootstrap', 'system', `'${root}${macPath}'`);
const printed = async (): Promise<Readonly<Record<string, string>>> => {
  const ran = await run(client, `"${root}/bin/launchctl" print system/dev.test`);
  const fields = [...ran.stdout.matchAll(/^\t([a-z][a-z ]*) = (.*)$/gm)].map(([, key, value]) => [key, value]);
  return Object.fromEntries(fields);
};
const out = (): Promise<string> => readFile(join(root, 'tmp/out'), 'utf8').catch(() => '');
const hasStarted = () => eventually(async () => (await out()).includes('started'));

beforeEach(async () => {
  await writeProgram();
  await writePlist();
});
afterEach(async () => {
  await asRoot(`"${root}/bin/launchctl" bootout system/dev.test\n"${root}/bin/rm" -f "${root}/tmp/out"\n`);
});

const isAlive = (pid: string | undefined): boolean => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

describe('launchctl on a simulated node', () => {
  it('prints the PID on request, and does not start a second process', async () => {
    await bootstrap();
    const [, first] = await launchctl('kickstart', '-p', 'system/dev.test');
    expect(first).toMatch(/^\d+\n$/);
    expect(await launchctl('kickstart', '-p', 'system/dev.test')).toEqual([0, first]);
    expect(await hasStarted()).toBe(true);
    const [, other] = await launchctl('kickstart', '-kp', 'system/dev.test');
    expect([other === first, isAlive(String(first)), isAlive(String(other))]).toEqual([false, false, true]);
    expect(await printed()).toMatchObject({ runs: '2', 'last exit code': '3' });
  });

  it('unloads a service after its process has ended', async () => {
    await bootstrap();
    await launchctl('kickstart', 'system/dev.test');
    await hasStarted();
    const { pid } = await printed();
    expect(await launchctl('bootout', 'system/dev.test')).toEqual([0, '']);
    expect([isAlive(pid), await out()]).toEqual([false, 'started\nended\n']);
    const ran = await run(client, 'launchctl print system/dev.test');
    expect([ran.code, ran.stderr]).toEqual([
      113,
      'Bad request.\nCould not find service "dev.test" in domain for system\n',
    ]);
  });

  it('reports a bootout in progress to a second caller', async () => {
    const gate = join(root, 'tmp/gate');
    const ending = `until [ -e "${gate}" ]; do sleep 0.02; done; exit 0`;
    await writeFile(program(), `#!/bin/sh\ntrap '${ending}' TERM\nprintf 'started\\n'\nwhile :; do sleep 0.02; done\n`);
    await writePlist({ ExitTimeOut: 600 });
    await bootstrap();
    await launchctl('kickstart', 'system/dev.test');
    await hasStarted();
    const both = [launchctl('bootout', 'system/dev.test'), launchctl('bootout', 'system/dev.test')];
    expect((await Promise.race(both))[0]).toBe(36);
    await writeFile(gate, '');
    expect((await Promise.all(both)).map(([code]) => code).sort()).toEqual([0, 36]);
  });

  it('kills a process that ignores TERM, with its whole group, after its exit timeout', async () => {
    await writeFile(
      program(),
      "#!/bin/sh\ntrap '' TERM\n(trap - TERM; while :; do sleep 0.02; done) &\nprintf 'started %s\\n' $!\nwait\nwhile :; do sleep 0.02; done\n",
    );
    await writePlist({ ExitTimeOut: 1 });
    await bootstrap();
    await launchctl('kickstart', 'system/dev.test');
    await hasStarted();
    const child = /started (\d+)/.exec(await out())?.[1];
    const { pid } = await printed();
    expect([isAlive(pid), isAlive(child)]).toEqual([true, true]);
    await launchctl('bootout', 'system/dev.test');
    expect([isAlive(pid), await eventually(() => !isAlive(child))]).toEqual([false, true]);
  });

  it('sends a signal only to a running service', async () => {
    await bootstrap();
    expect(await launchctl('kill', 'SIGTERM', 'system/dev.test')).toEqual([3, 'No process to signal.\n']);
    await launchctl('kickstart', 'system/dev.test');
    await hasStarted();
    expect(await launchctl('kill', 'SIGTERM', 'system/dev.test')).toEqual([0, '']);
    expect(await eventually(async () => (await printed())['last exit code'] === '3')).toBe(true);
    await launchctl('kickstart', 'system/dev.test');
    await launchctl('kill', '9', 'system/dev.test');
    expect(await eventually(async () => (await printed())['last terminating signal'] === 'Killed: 9')).toBe(true);
  });

  it("gives a job launchd's environment, without login variables", async () => {
    await writeProgram('env | while read -r line; do printf "%s\\n" "${line%%=*}"; done');
    await writePlist({ EnvironmentVariables: { OWN: '1' } });
    await bootstrap();
    await launchctl('kickstart', 'system/dev.test');
    await hasStarted();
    const names = (await out()).split('\n').filter((line) => /^[A-Z_]{2,}$/.test(line));
    const shells = ['PWD', 'OLDPWD', 'SHLVL'];
    expect(names.filter((name) => !shells.includes(name)).sort()).toEqual(
      [
        'MESHWRIGHT_CLOCK',
        'MESHWRIGHT_LINK_TABLE',
        'MW_SIM',
        'MW_SIM_SUDO',
        'OWN',
        'PATH',
        'XPC_FLAGS',
        'XPC_SERVICE_NAME',
      ].sort(),
    );
  });

  it.each<readonly [string, Keys]>([
    ['a missing program', { ProgramArguments: ['/opt/nothing'] }],
    ['a missing output folder', { StandardOutPath: '/nowhere/out' }],
  ])('reports %s as EX_CONFIG', async (_, keys) => {
    await writePlist(keys);
    await bootstrap();
    expect(await launchctl('kickstart', 'system/dev.test')).toEqual([0, '']);
    expect(await printed()).toMatchObject({ state: 'not running', runs: '1', 'last exit code': '78: EX_CONFIG' });
  });

  it('refuses the same calls as launchd', async () => {
    const failed = [5, 'Bootstrap failed: 5: Input/output error\n'];
    await bootstrap();
    expect(await bootstrap()).toEqual(failed);
    await launchctl('bootout', 'system/dev.test');
    expect(await launchctl('bootout', 'system/dev.test')).toEqual([3, 'Boot-out failed: 3: No such process\n']);
    expect(await launchctl('kickstart', 'system/dev.test')).toEqual([
      113,
      'Could not find service "dev.test" in domain for system\n',
    ]);
    await chmod(join(root, macPath), 0o666);
    expect(await bootstrap()).toEqual(failed);
    await chmod(join(root, macPath), 0o644);
    await writeFile(join(root, macPath), 'no list');
    expect(await bootstrap()).toEqual(failed);
    expect(await launchctl('bootstrap', 'system', `'${root}/nothing.plist'`)).toEqual(failed);
  });

  it('refuses to load a disabled service until it is enabled', async () => {
    expect(await launchctl('disable', 'system/dev.test')).toEqual([0, '']);
    expect(await bootstrap()).toEqual([119, 'Bootstrap failed: 119: Service is disabled\n']);
    expect(await launchctl('enable', 'system/dev.test')).toEqual([0, '']);
    expect(await bootstrap()).toEqual([0, '']);
  });

  it('needs root for changes but not for reading', async () => {
    await bootstrap();
    const ran = await run(client, `launchctl kickstart system/dev.test; echo $?; launchctl print system/dev.test`);
    expect(ran.stderr).toBe('Could not kickstart service "dev.test": 1: Operation not permitted\n');
    expect(ran.stdout).toMatch(/^1\nsystem\/dev\.test = \{\n/);
  });

  it('records calls that it does not simulate', async () => {
    await writePlist({ WatchPaths: ['/x'] });
    expect((await bootstrap())[0]).toBe(5);
    expect((await launchctl('kickstart', '-x', 'system/dev.test'))[0]).toBe(64);
    const lines = (await fleet.unknown())['studio-1'] ?? [];
    expect(lines.some((line) => line.includes('WatchPaths'))).toBe(true);
    expect(lines).toContain('/bin/launchctl 3:kickstart -x system/dev.test');
  });
});
