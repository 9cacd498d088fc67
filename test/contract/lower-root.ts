import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildLowerRoot, lowerRootDigest } from '../../src/sim/hosts/namespace/lower-root.ts';

/** Kept from run to run, as the packages are. */
const cache = fileURLToPath(new URL('../../node_modules/.cache/meshwright/lower-root', import.meta.url));

const hourMs = 3_600_000;
/** Longer than any fleet lives: one that was used since may lie below the files of Macs that run. */
const dayMs = 24 * hourMs;

/** What is there no more, because another process was faster, is no failure. */
async function isDone(change: Promise<unknown>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Notes that it is used now; false where there is none. */
async function touch(path: string): Promise<boolean> {
  const now = new Date();
  return await isDone(utimes(path, now, now));
}

/** Builds one under its name, at once for whoever looks: several processes may do so together, and the first one wins. */
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
 * Takes away what nobody uses: those of other programs, and what killed processes have left. One loses its name before it
 * loses files, so that none with a name is ever half there.
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

/** What all Macs in namespaces have in common, built once for all fleets of all runs: it is never written to. */
export async function sharedLowerRoot(folder = cache): Promise<string> {
  const name = await lowerRootDigest();
  await mkdir(folder, { recursive: true });
  if (!(await touch(join(folder, name)))) await build(folder, name);
  await sweep(folder, name);
  return join(folder, name);
}
