import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { isSameProcess, processStart } from '../src/sim/hosts/processes.ts';

const gibibyte = 2 ** 30;
const prefix = 'mw-';
const ownerName = 'owner';

/**
 * The PID namespace of this process. Containers may share this memory, and a PID is valid in one namespace only.
 */
const countedIn = (): Promise<string> => readlink('/proc/self/ns/pid').catch(() => '');

/** True if the process that wrote this record belongs to the same process table and has ended. */
async function hasEnded(owner: string): Promise<boolean> {
  const [pid = '', start = '', namespace = ''] = owner.split(' ');
  if (namespace === '' || namespace !== (await countedIn())) return false;
  return !(await isSameProcess(Number(pid), start));
}

/** Removes the folders of killed runs: nothing else frees that memory before the machine restarts. */
export async function removeAbandoned(shared: string): Promise<void> {
  for (const name of await readdir(shared)) {
    const folder = join(shared, name);
    const owner = name.startsWith(prefix) ? await readFile(join(folder, ownerName), 'utf8').catch(() => '') : '';
    if (await hasEnded(owner)) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Creates a folder that is removed when this process exits. @throws Error if it cannot be created or allows no programs
 */
export async function ownFolder(shared: string): Promise<string> {
  const folder = mkdtempSync(join(shared, prefix));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const start = (await processStart(process.pid)) ?? '';
  writeFileSync(join(folder, ownerName), `${process.pid} ${start} ${await countedIn()}`);
  writeFileSync(join(folder, 'program'), '', { mode: 0o755 });
  accessSync(join(folder, 'program'), constants.X_OK);
  return folder;
}

/**
 * A folder in memory. Simulated Macs write and delete thousands of small files. If the machine has enough memory,
 * keeping them there saves a fifth of the time. Only Linux has such a folder; if TMPDIR is set, that folder is used
 * instead.
 */
export async function inMemory(shared = '/dev/shm'): Promise<string | undefined> {
  if (process.env['TMPDIR'] !== undefined || process.platform !== 'linux') return undefined;
  try {
    await removeAbandoned(shared);
    const { bavail, bsize } = statfsSync(shared);
    const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
    if (Math.min(bavail * bsize, freemem(), limit) < 6 * gibibyte) return undefined;
    return await ownFolder(shared);
  } catch {
    return undefined;
  }
}
