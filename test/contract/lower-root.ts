import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildLowerRoot, lowerRootDigest } from '../namespace/host/lower-root.ts';

/** The folder of the trees, which are kept between runs. */
const cache = fileURLToPath(new URL('../../.cache/lower-root', import.meta.url));

const hourMs = 3_600_000;
/** Longer than the lifetime of any fleet. A recently used tree may still be mounted below running Macs. */
const dayMs = 24 * hourMs;

/** A missing file is no failure: a different process was faster. */
async function isDone(change: Promise<unknown>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Marks a tree as in use; returns false if the tree does not exist. */
async function touch(path: string): Promise<boolean> {
  const now = new Date();
  return await isDone(utimes(path, now, now));
}

/** Builds a tree and renames it atomically. Several processes may do so in parallel; the first one wins. */
async function build(folder: string, name: string): Promise<void> {
  const made = await mkdtemp(join(folder, 'new-'));
  try {
    await buildLowerRoot(made);
    await rename(made, join(folder, name)).catch(async (error: unknown) => {
      if (!(await touch(join(folder, name)))) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function isOlder(path: string, ageMs: number): Promise<boolean> {
  const found = stat(path);
  return (await isDone(found)) && Date.now() - (await found).mtimeMs > ageMs;
}

/**
 * Removes unused trees: those of other programs and those left by killed processes. A tree loses its name before its
 * files, so that a named tree is always complete.
 */
async function sweep(folder: string, used: string): Promise<void> {
  for (const one of await readdir(folder)) {
    const path = join(folder, one);
    if (/^(?:new|old)-/.test(one)) {
      if (await isOlder(path, hourMs)) await rm(path, { recursive: true, force: true });
    } else if (/^[0-9a-f]{16}$/.test(one) && one !== used && (await isOlder(path, dayMs))) {
      const old = join(folder, `old-${one}-${process.pid}`);
      if (!(await isDone(rename(path, old)))) continue;
      await touch(old);
      await rm(old, { recursive: true, force: true });
    }
  }
}

/** The read-only tree shared by all Macs in namespaces, built once for all fleets of all runs. */
export async function sharedLowerRoot(folder = cache): Promise<string> {
  const name = await lowerRootDigest();
  await mkdir(folder, { recursive: true });
  if (!(await touch(join(folder, name)))) await build(folder, name);
  await sweep(folder, name);
  return join(folder, name);
}
