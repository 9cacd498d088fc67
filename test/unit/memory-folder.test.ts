import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { processStart } from '../../src/sim/hosts/processes.ts';
import { ownFolder, removeAbandoned } from '../memory-folder.ts';

const shared = mkdtempSync(join(tmpdir(), 'mw-shared-'));
afterEach(() => rmSync(shared, { recursive: true, force: true }));

/** The number and start time of a killed process. */
async function killed(): Promise<string> {
  const child = spawn('sleep', ['300']);
  await once(child, 'spawn');
  const start = await processStart(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return `${child.pid} ${start}`;
}

function lay(name: string, owner?: string): void {
  mkdirSync(join(shared, name));
  if (owner !== undefined) writeFileSync(join(shared, name, 'owner'), owner);
}

it.runIf(process.platform === 'linux')('removeAbandoned removes only the folders of killed runs', async () => {
  const own = await ownFolder(shared);
  const [pid, start, table = ''] = readFileSync(join(own, 'owner'), 'utf8').split(' ');
  expect(table).toBe(readlinkSync('/proc/self/ns/pid'));
  const dead = await killed();
  lay('mw-dead', `${dead} ${table}`);
  // Its PID has been reused since.
  lay('mw-reused', `${pid} ${Number(start) - 1} ${table}`);
  lay('mw-elsewhere', `${dead} pid:[1]`);
  lay('mw-begun');
  lay('other', `${dead} ${table}`);
  await removeAbandoned(shared);
  expect(readdirSync(shared).sort()).toEqual(
    [own.slice(shared.length + 1), 'mw-begun', 'mw-elsewhere', 'other'].sort(),
  );
});
