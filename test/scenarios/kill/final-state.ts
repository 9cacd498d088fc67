import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makePlan } from '../../../src/engine/plan/make-plan.ts';
import { seenProperties } from '../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import type { Facts } from '../../../src/model/facts/fact-values.ts';
import type { FleetObservation } from '../../../src/rack/examination.ts';
import { read } from '../../../src/rack/fact.ts';
import { placementsFact } from '../../../src/rack/placement/observed/fact.ts';
import { filesFact } from '../../../src/rack/records/files-fact.ts';
import { servicesFact } from '../../../src/rack/records/services-fact.ts';
import { treesFact } from '../../../src/rack/records/trees-fact.ts';
import { leftIn } from '../converge-rack.ts';

const trees = 'opt/meshwright';
const operations = 'Library/Application Support/meshwright/ops';

/** Every file below a folder of a node, by its path there. */
async function filesBelow(root: string, folder: string): Promise<readonly string[]> {
  const found = await readdir(join(root, folder), { recursive: true }).catch(() => []);
  return found.sort();
}

/** Jobs stored on a node. A reboot's mark is named after a boot session, which differs each time. */
async function jobsOn(root: string): Promise<readonly string[]> {
  const found = await readdir(join(root, operations)).catch(() => []);
  return found.filter((name) => !name.startsWith('reboot-')).sort();
}

/** Values that change with every start of a mesh or a Mac, and reveal nothing about its state. */
const passing: readonly string[] = [
  'generation',
  'port',
  'peers',
  'startedIn',
  'starts',
  'text',
  'pid',
  'runs',
  'boot',
];

function withoutPassing(value: unknown): unknown {
  const kept = (key: string, one: unknown): unknown => (passing.includes(key) ? undefined : one);
  return JSON.parse(JSON.stringify(value, kept));
}

/** A service file contains the generation, so only its state counts, not its digest. */
const withoutDigests = (facts: Facts): unknown => {
  const files = read(facts, filesFact);
  return files.kind === 'known' ? files.value.map(({ path, state }) => ({ path, state })) : files;
};

const stateOf = (facts: Facts): unknown => ({
  files: withoutDigests(facts),
  trees: read(facts, treesFact),
  placements: read(facts, placementsFact),
  services: read(facts, servicesFact),
});

/**
 * The final state, without values that differ between starts of a mesh, and without boot sessions: the properties,
 * the records of meshwright on the nodes, every file of a tree, every job, and the remaining changes.
 *
 * @param roots folder of each node
 */
export async function finalState(
  desired: DesiredFleet,
  observation: FleetObservation,
  roots: ReadonlyMap<string, string>,
): Promise<unknown> {
  const targets = desired.nodes.map(({ name }) => name);
  const folders = [...roots].map(async ([node, root]) => {
    return [node, [...(await filesBelow(root, trees)), ...(await jobsOn(root))]] as const;
  });
  return withoutPassing({
    left: leftIn(makePlan({ goal: { kind: 'converge' }, desired, observation, targets })),
    properties: Object.fromEntries(seenProperties(desired, observation)),
    nodes: targets.map((name) => {
      const seen = observation.nodes[name];
      return [name, seen === undefined ? 'not observed' : stateOf(seen.facts), observation.failures[name]];
    }),
    folders: Object.fromEntries(await Promise.all(folders)),
  });
}
