import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostTool } from '../../src/sim/host/base-tools/all-base-tools.ts';
import { buildLowerRoot, lowerRootDigest } from '../../src/sim/namespace/lower-root.ts';
import { programNames } from '../../src/sim/namespace/node-tools.ts';

/** Kept from run to run, as the packages are. */
const cache = fileURLToPath(new URL('../../node_modules/.cache/meshwright/lower-root', import.meta.url));

const isThere = async (folder: string, name: string): Promise<boolean> => (await readdir(folder)).includes(name);

/**
 * Builds one under its name, at once for whoever looks: several processes may do so together, and the first one wins.
 * Those of other programs than this machine has now are taken away.
 */
async function build(folder: string, name: string): Promise<void> {
  const earlier = (await readdir(folder)).filter((one) => /^[0-9a-f]{16}$/.test(one));
  const made = await mkdtemp(join(folder, 'new-'));
  try {
    await buildLowerRoot(made, hostTool, programNames);
    await rename(made, join(folder, name)).catch(async (error: unknown) => {
      if (!(await isThere(folder, name))) throw error;
    });
    for (const one of earlier.filter((other) => other !== name)) {
      await rm(join(folder, one), { recursive: true, force: true });
    }
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/** What all Macs in namespaces have in common, built once for all fleets of all runs: it is never written to. */
export async function sharedLowerRoot(folder = cache): Promise<string> {
  const name = await lowerRootDigest(hostTool, programNames);
  await mkdir(folder, { recursive: true });
  if (!(await isThere(folder, name))) await build(folder, name);
  return join(folder, name);
}
