import { createHash, randomBytes } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObserveOptions, observeFleet } from '../../src/apply/reach/observe.ts';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import { loadCluster } from '../../src/engine/load-cluster.ts';
import { factsJson } from '../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { type RunningFleet, type StartFleetOptions, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { root, textOf } from '../architecture/sources.ts';
import { type RunningRack, startRack } from '../rack/running.ts';

/** The absolute path of the example file. */
export const exampleFile = `${root}test/rack/reference.yaml`;

/** The example file, resolved. */
function exampleFleet(): DesiredFleet {
  const { fleet } = loadCluster(textOf('test/rack/reference.yaml'), 'test/rack/reference.yaml');
  if (!fleet) throw new Error('the example file is invalid');
  return fleet;
}

/** Starts the rack on the portable host. The seed is fixed, so two racks have the same Macs. */
export const startExampleRack = (): Promise<RunningRack> => startExampleRackBy(startFleet);

/** Starts the rack on the host of this function. */
export const startExampleRackBy = <F extends RunningFleet>(
  start: (options: StartFleetOptions) => Promise<F>,
): Promise<RunningRack<F>> => startRack(start, { desired: exampleFleet(), seed: 'observe' });

/** Observes like the command line, with limits that a busy machine does not reach. */
export const observe = (
  ways: readonly NodeTarget[],
  options: Partial<ObserveOptions> = {},
): Promise<FleetObservation> =>
  observeFleet(ways, {
    parallel: 32,
    deadlineMs: 60_000,
    newBoundary: () => randomBytes(16).toString('hex'),
    ...options,
  });

/** One node's facts as in `facts --json`, without the clock, which changes every second. */
export function timelessFacts(observation: FleetObservation, node: string): Readonly<Record<string, unknown>> {
  const seen = observation.nodes[node];
  if (seen === undefined) throw new Error(`${node} was not observed`);
  const { clock: _, ...facts } = factsJson(seen.facts);
  return facts;
}

/** The names of a node's unknown facts, with the reasons. */
export function unknownFacts(observation: FleetObservation, node: string): Readonly<Record<string, string>> {
  const facts = Object.entries(observation.nodes[node]?.facts ?? {});
  return Object.fromEntries(facts.flatMap(([name, fact]) => (fact.kind === 'unknown' ? [[name, fact.reason]] : [])));
}

/** One line per path below a folder: type, mode, size, time of change, digest or link target. */
export type Tree = Readonly<Record<string, string>>;

/** Lists everything about a tree except access times, which reading changes. */
async function treeOf(folder: string): Promise<Tree> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = ['', ...entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))].sort();
  const lines = await Promise.all(
    paths.map(async (path): Promise<readonly [string, string]> => {
      const whole = join(folder, path);
      const stat = await lstat(whole, { bigint: true });
      const mode = stat.mode.toString(8);
      if (stat.isSymbolicLink()) return [path, `${mode} -> ${await readlink(whole)}`];
      if (stat.isDirectory()) return [path, `${mode} folder ${isScratch(path) ? '' : stat.mtimeNs}`];
      const digest = createHash('sha256')
        .update(await readFile(whole))
        .digest('hex');
      return [path, `${mode} ${stat.size} ${stat.mtimeNs} ${digest}`];
    }),
  );
  return Object.fromEntries(lines);
}

/** An observation creates and removes one private folder, which changes the time of its parent. */
const isScratch = (path: string): boolean => path === 'private/tmp';

/** The trees of all nodes of a rack. */
export async function treesOf(rack: RunningRack): Promise<Readonly<Record<string, Tree>>> {
  const all = rack.names.map(async (name) => [name, await treeOf(rack.fleet.nodes[name]?.root ?? '')] as const);
  return Object.fromEntries(await Promise.all(all));
}
