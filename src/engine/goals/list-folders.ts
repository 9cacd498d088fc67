import { mostTreeFiles } from '../../desired/tree-paths.ts';
import type { DesiredModel } from '../../model/desired.ts';
import { known } from '../../model/known.ts';
import { filesAddress, listJobKey, nodeFolder } from '../../rack/artifacts/models/list-folders.ts';
import { usedModels } from '../../rack/artifacts/models/model-resource.ts';
import { buildStep } from '../../rack/build-step.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { treeAddress } from '../../rack/records/trees-reading.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../../rack/resource.ts';
import { ownGoal } from './scope.ts';

/** A file of many gigabytes is hashed without progress in between. */
const stallMs = 3_600_000;

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
function lists({ names }: GoalOf<'list-folders'>): Resource {
  const listedOn = (...on: Parameters<typeof usedModels>): readonly DesiredModel[] =>
    usedModels(...on).filter(({ name, source }) => source.kind === 'node' && names.includes(name));
  return {
    kind: 'model',
    after: ['identity', 'sudo'],
    ...perTarget(
      (fleet, target) => listedOn(fleet, target).map((model) => propertyOf(target, model)),
      (fleet, target, made) =>
        listedOn(fleet, target).flatMap((model) => {
          const property = made.find(({ address }) => address === filesAddress(model).address);
          const [folder, key] = [nodeFolder(model), listJobKey(model)];
          if (property === undefined || folder === undefined || key === undefined) return [];
          const name = `${treeAddress('model', model.name).address}/list`;
          const args = { model: model.name, folder, most: mostTreeFiles };
          const act = { kind: 'job', key, name: 'list-folder', args } as const;
          return [buildStep({ name, class: 'job', act, towards: [property], deadlineMs: stallMs })];
        }),
    ),
  };
}

export const listFolders = ownGoal(lists);
