import { mostTreeFiles } from '../../desired/tree-paths.ts';
import type { DesiredFleet, DesiredModel } from '../../model/desired.ts';
import { known } from '../../model/known.ts';
import { sudo } from '../../rack/access/resource.ts';
import { filesAddress, listJobKey, nodeFolder } from '../../rack/artifacts/models/list-folders.ts';
import { usedModels } from '../../rack/artifacts/models/model-resource.ts';
import { buildStep } from '../../rack/build-step.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { identity } from '../../rack/identity/resource.ts';
import { treeAddress } from '../../rack/records/trees.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../../rack/resource.ts';
import { type GoalEntry, ownScope } from './scope.ts';

/** A file of many gigabytes is hashed without progress in between. */
const stallMs = 3_600_000;

const listedOn = (
  { names }: GoalOf<'list-folders'>,
  fleet: DesiredFleet,
  target: ObservedTarget,
): readonly DesiredModel[] =>
  usedModels(fleet, target).filter(({ name, source }) => source.kind === 'node' && names.includes(name));

/** The contents of a folder are never observed, so that this property always differs: the job's result decides. */
const propertyOf = ({ desired: { name: node } }: ObservedTarget, model: DesiredModel): Property => ({
  node,
  ...filesAddress(model),
  desired: 'listed',
  observed: known('not listed'),
  from: 'not listed',
  to: 'every file hashed',
  reason: `models.${model.name}`,
});

/** The job's folder keeps the list for the next time. */
const lists = (goal: GoalOf<'list-folders'>): Resource => ({
  kind: 'model',
  after: ['identity', 'sudo'],
  ...perTarget(
    (fleet, target) => listedOn(goal, fleet, target).map((model) => propertyOf(target, model)),
    (fleet, target, made) =>
      listedOn(goal, fleet, target).flatMap((model) => {
        const property = made.find(({ address }) => address === filesAddress(model).address);
        const [folder, key] = [nodeFolder(model), listJobKey(model)];
        if (property === undefined || folder === undefined || key === undefined) return [];
        const args = { model: model.name, folder, most: mostTreeFiles };
        return [
          buildStep({
            name: `${treeAddress('model', model.name).address}/list`,
            class: 'job',
            act: { kind: 'job', key, name: 'list-folder', args },
            towards: [property],
            deadlineMs: stallMs,
          }),
        ];
      }),
  ),
});

export const listFolders: GoalEntry<'list-folders'> = {
  scope: (goal, desired) => ownScope(desired, { resource: lists(goal), before: [identity, sudo] }),
};
