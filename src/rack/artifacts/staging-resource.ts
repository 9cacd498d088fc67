import { loadedModels } from '../../desired/layouts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { ObservedTree } from '../../model/facts/fact-values.ts';
import type { NodeJob } from '../../model/facts/node-records.ts';
import { type Known, known, mapKnown } from '../../model/known.ts';
import { compareText } from '../../model/lists.ts';
import type { TreeId } from '../../model/node-script.ts';
import { addressed } from '../../model/subject.ts';
import { scriptStep } from '../build-step.ts';
import { knownWords } from '../compare-values.ts';
import { read } from '../fact.ts';
import { jobsFact } from '../records/jobs-fact.ts';
import { treesFact } from '../records/trees-fact.ts';
import { isIntact, treeOf } from '../records/trees-reading.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import { listJobKey } from './models/list-folders.ts';
import { usedRuntimes } from './runtimes/runtime-resource.ts';
import { jobKeys, placementsOn } from './trees/tree-steps.ts';

const own = addressed({ kind: 'staging' });

/** The staging folders and job files to remove: names of folders, and keys of jobs. */
interface Leftovers {
  readonly folders: readonly string[];
  readonly jobs: readonly string[];
}

function usedTrees(fleet: DesiredFleet, target: ObservedTarget): readonly TreeId[] {
  const used = placementsOn(fleet, target);
  const programs = usedRuntimes(fleet, target);
  const models = fleet.models.filter(({ name }) => used.some((one) => loadedModels(one).includes(name)));
  return [
    ...programs.filter(({ digest }) => digest !== undefined).map(({ name, digest }) => treeOf('runtime', name, digest)),
    ...models.filter(({ digest }) => digest !== undefined).map(({ name, digest }) => treeOf('model', name, digest)),
  ];
}

const isPublished = (trees: readonly ObservedTree[], tree: TreeId): boolean =>
  isIntact(
    trees.filter(({ kind, name }) => kind === tree.kind && name === tree.name),
    tree,
  );

const folderOf = ({ kind, name, digest }: Pick<TreeId, 'kind' | 'name'> & { readonly digest: string }): string =>
  `${kind}-${name}-${digest.slice(0, 16)}`;

/** A job names the tree that it works on; older versions left out the digest. */
const worksOn = ({ fields }: NodeJob, { kind, name, digest }: ObservedTree): boolean =>
  fields['state'] === 'running' && [`${kind} ${name}`, `${kind} ${name} ${digest}`].includes(fields['tree'] ?? '');

/**
 * A staging folder is needed while its tree is used and not yet published, and so are the jobs that make this tree. The
 * start of a placement removes the job that prepared it.
 * Running jobs, and everything they work on, are never removed.
 */
function leftoversOn(fleet: DesiredFleet, target: ObservedTarget): Known<Leftovers> {
  const trees = read(target.facts, treesFact);
  const jobs = read(target.facts, jobsFact);
  if (trees.kind === 'unknown') return trees;
  if (jobs.kind === 'unknown') return jobs;
  const needed = usedTrees(fleet, target).filter((tree) => !isPublished(trees.value, tree));
  const neededFolders = needed.map(folderOf);
  const neededJobs: readonly string[] = needed.flatMap(jobKeys);
  const staged = trees.value.filter(({ state }) => state === 'staged');
  const folders = staged
    .filter((one) => !neededFolders.includes(folderOf(one)) && !jobs.value.some((job) => worksOn(job, one)))
    .map(folderOf);
  const ended = jobs.value.filter(({ key, fields }) => /^[0-9a-f]{64}$/.test(key) && fields['state'] !== 'running');
  const placements = placementsOn(fleet, target).map(({ name }) => name);
  // The lists of the files in folders, so that `models lock` does not hash them again.
  const lists: readonly (string | undefined)[] = fleet.models.map(listJobKey);
  const isNeeded = ({ key, fields }: NodeJob): boolean =>
    neededJobs.includes(key) || lists.includes(key) || placements.includes(fields['placement'] ?? '');
  const keys = ended.filter((job) => !isNeeded(job)).map(({ key }) => key);
  return known({ folders: folders.toSorted(compareText), jobs: keys.toSorted(compareText) });
}

const listed = ({ folders, jobs }: Leftovers): readonly string[] => [...folders, ...jobs.map((key) => `job ${key}`)];

function leftoverWords({ folders, jobs }: Leftovers): string {
  const ended = jobs.length === 1 ? ['1 finished job'] : [`${jobs.length} finished jobs`];
  return `${[...folders, ...(jobs.length === 0 ? [] : ended)].join(', ')} left over`;
}

function propertyOf(fleet: DesiredFleet, target: ObservedTarget): Property {
  const found = leftoversOn(fleet, target);
  return {
    node: target.desired.name,
    ...own,
    desired: [],
    observed: mapKnown(found, listed),
    from: knownWords(found, leftoverWords),
    to: 'nothing left over',
    reason: 'no placement here needs it',
  };
}

/** Leftovers of abandoned installations: staging folders that nothing needs, and files of finished jobs. */
export const staging: Resource = {
  kind: 'staging',
  after: ['identity', 'sudo'],
  ...perTarget(
    (fleet, target) => [propertyOf(fleet, target)],
    (fleet, target, makes) => {
      const found = leftoversOn(fleet, target);
      if (found.kind === 'unknown') return [];
      const call = { name: 'clear-staging', args: found.value } as const;
      return [scriptStep({ name: `${own.address}/clear`, call, makes, deadlineMs: 120_000 })];
    },
  ),
};
