import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadCluster } from '../../src/engine/load-cluster.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { createNodeRoot } from '../../src/sim/hosts/node-root.ts';

const islandSize = 4;

const nameOf = (index: number): string => `studio-${index + 1}`;

/** A link for every pair in an island of four; each end is in the next free receptacle, starting with 2. */
function islandLinks(first: number, size: number): readonly string[] {
  const free = Array.from({ length: size }, () => 2);
  const end = (at: number): string => {
    const receptacle = free[at] ?? 2;
    free[at] = receptacle + 1;
    return `${nameOf(first + at)}:${receptacle}`;
  };
  const pairs = free.flatMap((_, one) => free.flatMap((_, other) => (one < other ? [[one, other] as const] : [])));
  return pairs.map(([one, other]) => `${end(one)} <-> ${end(other)}`);
}

/** The first node of each island. */
export const islands = (nodes: number): readonly number[] =>
  Array.from({ length: Math.ceil(nodes / islandSize) }, (_, island) => island * islandSize);

/** The nodes of an island, by name. */
export const islandNames = (first: number, nodes: number): readonly string[] =>
  Array.from({ length: Math.min(islandSize, nodes - first) }, (_, index) => nameOf(first + index));

/** A cluster file with this many Macs, in islands of four with a cable for every pair. */
export function rackText(nodes: number): string {
  const names = Array.from({ length: nodes }, (_, index) => nameOf(index));
  const links = islands(nodes).flatMap((first) => islandLinks(first, Math.min(islandSize, nodes - first)));
  return [
    'schema: 1',
    `name: bench-${nodes}`,
    'macos: { version: "26.5", accept: ">=26.4 <26.6" }',
    'nodes:',
    ...names.map((name) => `  ${name}: { host: ${name}.lan, hardware: { model: "Mac15,14", memory: 512GB } }`),
    'thunderbolt:',
    '  addressing: { pool: 10.77.0.0/16 }',
    ...(links.length === 0 ? [] : ['  links:', ...links.map((link) => `    - ${link}`)]),
    '',
  ].join('\n');
}

/**
 * Tools of this machine: the simulator's flag checks would only make the floor slower. `find` is an exception, because
 * this machine's may lack `-acl`.
 */
const ownTools = [
  ...['/bin/cat', '/bin/date', '/bin/ps', '/bin/rm', '/bin/sleep', '/usr/bin/awk', '/usr/bin/cksum'],
  ...['/usr/bin/head', '/usr/bin/mktemp', '/usr/bin/wc'],
];

/** A `sudo -n` that allows everything. */
const lightSudo = '#!/bin/sh\nexit 0\n';

/** Copies the base tools of this machine into the root of a node. */
export async function lightenTools(root: string): Promise<void> {
  for (const path of ownTools) {
    await rm(join(root, path), { force: true });
    await symlink(path, join(root, path));
  }
}

/**
 * Writes the file tree of each Mac of a cluster file below `folder` and returns the root of each node. Each macOS tool
 * answers like the simulated Mac, through a few lines of plain `sh` that end in `exec cat`. Base tools are those of
 * this machine.
 */
export async function placeRoots(text: string, folder: string, user: string): Promise<ReadonlyMap<string, string>> {
  const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
  if (fleet === undefined)
    throw new Error(`the benchmark wrote an invalid cluster file: ${JSON.stringify(diagnostics)}`);
  const model = modelledFleet(fleet, 'bench');
  const roots = new Map<string, string>();
  for (const { name } of model.nodes) {
    const root = join(folder, name);
    const made = await createNodeRoot({ root, user, userKey: 'unused' });
    await made.update(model.viewOf(name).files);
    await lightenTools(root);
    await writeFile(join(root, '/usr/bin/sudo'), lightSudo, { mode: 0o755 });
    roots.set(name, root);
  }
  return roots;
}
