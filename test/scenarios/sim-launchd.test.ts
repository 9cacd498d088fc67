import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'ssh2';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { modelledFleet } from '../../src/sim/host/modelled-fleet.ts';
import { type Fleet, startFleet } from '../../src/sim/host/start-fleet.ts';
import { jobPlist } from '../unit/sim/launchd-job.ts';
import { desiredRack } from '../unit/sim/rack.ts';
import { connect, eventually, freshFolder, removeFolder, run } from './sim-fixture.ts';

let folder = '';
let fleet: Fleet;
let client: Client;
let root = '';
beforeAll(async () => {
  folder = await freshFolder('mw test ');
  fleet = await startFleet({ folder, model: modelledFleet(desiredRack, 'launchd') });
  root = fleet.nodes['studio-1']?.root ?? '';
  client = await connect(fleet, 'studio-1');
});
afterAll(async () => {
  client.end();
  await fleet.stop();
  await removeFolder(folder);
});

const macPath = '/Library/LaunchDaemons/dev.test.plist';
const program = (): string => join(root, 'opt/job');

/** A program that says what it was given and waits for a signal; `body` runs first. */
async function writeProgram(body = ''): Promise<void> {
  await mkdir(join(root, 'opt'), { recursive: true });
  const text = `#!/bin/sh\n${body}\nprintf 'started\\n'\ntrap 'printf "ended\\n"; exit 3' TERM\nwhile :; do sleep 0.02; done\n`;
  await writeFile(program(), text);
  await chmod(program(), 0o755);
}

type Keys = Parameters<typeof jobPlist>[0];
const writePlist = (keys: Keys = {}): Promise<void> =>
  writeFile(
    join(root, macPath),
    jobPlist({ ProgramArguments: [program()], StandardOutPath: join(root, 'tmp/out'), ...keys }),
  );

/** Runs lines as root, as the product does. */
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
  await launchctl('bootout', 'system/dev.test');
  await asRoot(`"${root}/bin/rm" -f "${root}/tmp/out"\n`);
});

describe('launchctl of a simulated node', () => {
  it('loads a service that starts when it is kicked, as a process of its own', async () => {
    expect(await bootstrap()).toEqual([0, '']);
    expect(await printed()).toMatchObject({ state: 'not running', runs: '0', path: macPath });
    expect(await launchctl('kickstart', 'system/dev.test')).toEqual([0, '']);
    const { state, pid, runs } = await printed();
    expect([state, runs]).toEqual(['running', '1']);
    expect(process.kill(Number(pid), 0)).toBe(true);
    expect(await hasStarted()).toBe(true);
  });
});
