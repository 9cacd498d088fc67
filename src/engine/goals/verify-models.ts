import type { DesiredFleet, DesiredModel } from '../../model/desired.ts';
import { digestOf } from '../../model/digest.ts';
import { mapKnown, seenValue } from '../../model/known.ts';
import { totalBytes } from '../../model/model-bytes.ts';
import type { Step } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import { transferDeadlineMs } from '../../rack/artifacts/trees/tree-steps.ts';
import { buildStep, scriptStep } from '../../rack/build-step.ts';
import { knownWords } from '../../rack/compare-values.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { isIntact, treeAddress, treeOf, treesOf } from '../../rack/records/trees-reading.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../../rack/resource.ts';
import { ownGoal } from './scope.ts';

type Verify = GoalOf<'verify-models'>;

const addressOf = ({ name }: DesiredModel) => addressed({ kind: 'model', name, part: 'files' });

/** The named models that are published and unchanged by the count and the times of their files. */
function intactOn({ names }: Verify, { models }: DesiredFleet, target: ObservedTarget): readonly DesiredModel[] {
  return models.filter((model) => {
    if (model.digest === undefined || !names.includes(model.name)) return false;
    const tree = treeOf('model', model.name, model.digest);
    return isIntact(seenValue(treesOf(target, tree)) ?? [], tree);
  });
}

/** What the files contain is never observed, so that this property always differs: the job's result decides. */
function propertyOf(target: ObservedTarget, model: DesiredModel): Property {
  const observed = mapKnown(treesOf(target, { kind: 'model', name: model.name }), () => 'not hashed');
  return {
    node: target.desired.name,
    ...addressOf(model),
    desired: 'hashed',
    observed,
    from: knownWords(observed, () => 'unchanged by times'),
    to: 'every file hashed',
    reason: `models.${model.name}`,
  };
}

/** The hash, and the removal of its job once its result was read. */
function hashSteps(model: DesiredModel, property: Property): readonly Step[] {
  const { name, files } = model;
  const tree = treeOf('model', name, model.digest);
  const bytes = totalBytes(files);
  const key = digestOf({ address: property.address, digest: tree.digest, name: 'rehash-model' });
  const hash = buildStep({
    name: `${treeAddress('model', name).address}/hash`,
    class: 'job',
    act: { kind: 'job', key, name: 'rehash-model', args: { tree, files } },
    towards: [property],
    deadlineMs: transferDeadlineMs(bytes),
  });
  const clear = scriptStep({
    name: `${treeAddress('model', name).address}/hash/clear`,
    call: { name: 'clear-staging', args: { folders: [], jobs: [key] } },
    towards: [property],
    needs: [hash],
    deadlineMs: 120_000,
  });
  // It does not count as a change: models stay as they are.
  return [hash, { ...clear, changes: [] }];
}

const hashes = (goal: Verify): Resource => ({
  kind: 'model',
  after: ['identity', 'sudo'],
  ...perTarget(
    (fleet, target) => intactOn(goal, fleet, target).map((model) => propertyOf(target, model)),
    (fleet, target, made) =>
      intactOn(goal, fleet, target).flatMap((model) => {
        const property = made.find(({ address }) => address === addressOf(model).address);
        return property === undefined ? [] : hashSteps(model, property);
      }),
  ),
});

export const verifyModels = ownGoal(hashes);
