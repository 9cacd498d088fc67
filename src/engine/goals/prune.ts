import { codes } from '../../diagnostics/diagnose.ts';
import { declaredModels } from '../../model/declared-settings.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, ObservedTree } from '../../model/facts/fact-values.ts';
import { type Known, mapKnown, seenValue } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import { prose } from '../../model/text/prose.ts';
import { bytesText } from '../../model/text/units.ts';
import { undeclaredModels } from '../../rack/artifacts/models/model-resource.ts';
import { runningOn } from '../../rack/artifacts/peers/cables-in-use.ts';
import { treeBlocker } from '../../rack/artifacts/trees/tree-steps.ts';
import { scriptStep } from '../../rack/build-step.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { type Blocker, type ObservedTarget, type Property, perTarget, type Resource } from '../../rack/resource.ts';
import { ownGoal, preconditions } from './scope.ts';

type Prune = GoalOf<'prune'>;

const treesToDelete = (
  { names }: Prune,
  fleet: DesiredFleet,
  { facts }: ObservedTarget,
): Known<readonly ObservedTree[]> =>
  mapKnown(undeclaredModels(fleet, facts), (trees) =>
    trees.filter(({ name }) => names === undefined || names.includes(name)),
  );

/** The running placements on a node that were started with this version, or whose records do not name any. */
const usersOf = (node: NodeName, facts: Facts, { name, digest: version }: ObservedTree): Known<readonly string[]> =>
  runningOn(node, facts, ({ declared }) => declaredModels(declared)?.includes(`${name} ${version}`) !== false);

const addressOf = ({ name, digest: version }: ObservedTree) => addressed({ kind: 'model', name, version });

const sizeText = (bytes: number | undefined): string => (bytes === undefined ? 'unknown size' : bytesText(bytes));

function propertyOf({ desired: { name: node }, facts }: ObservedTarget, tree: ObservedTree): Property {
  return {
    node,
    ...addressOf(tree),
    desired: 'absent',
    observed: mapKnown(usersOf(node, facts, tree), () => tree.state),
    from: `${tree.state === 'intact' ? '' : `${tree.state}, `}${sizeText(tree.bytes)}`,
    to: 'deleted',
    reason: 'not in the file',
  };
}

function usedBlocker({ desired: { name: node }, facts }: ObservedTarget, tree: ObservedTree): readonly Blocker[] {
  const users = seenValue(usersOf(node, facts, tree)) ?? [];
  if (users.length === 0) return [];
  const action = prose`${listText(users)} ${users.length === 1 ? 'runs' : 'run'} with ${tree.name} (${tree.digest}) on ${node}. ${codes['model/in-use'].hint}`;
  const blocker = treeBlocker('model', tree.name, { code: 'model/in-use', node, action });
  return [{ ...blocker, property: addressOf(tree) }];
}

function pruneSteps(trees: readonly ObservedTree[], made: readonly Property[]): readonly Step[] {
  return made.flatMap((property) => {
    const tree = trees.find((one) => addressOf(one).address === property.address);
    if (tree === undefined) return [];
    const { name, digest: version } = tree;
    return [
      scriptStep({
        name: `${property.address}/delete`,
        call: { name: 'remove-model-versions', args: { name, digests: [version] } },
        effect: { kind: 'delete', bytes: tree.bytes ?? 0 },
        makes: [property],
        deadlineMs: 600_000,
      }),
    ];
  });
}

/** Deletes published models that the file does not declare and no running rank uses. */
const deletion = (goal: Prune): Resource => ({
  kind: 'model',
  after: ['identity', 'sudo'],
  ...perTarget(
    (fleet, target) => (seenValue(treesToDelete(goal, fleet, target)) ?? []).map((tree) => propertyOf(target, tree)),
    (fleet, target, made) => pruneSteps(seenValue(treesToDelete(goal, fleet, target)) ?? [], made),
  ),
  blockers: ({ desired, targets }) =>
    targets.flatMap((target) =>
      (seenValue(treesToDelete(goal, desired, target)) ?? []).flatMap((tree) => usedBlocker(target, tree)),
    ),
  unobserved: ({ desired, targets }) =>
    targets
      .filter((target) => treesToDelete(goal, desired, target).kind === 'unknown')
      .map(({ desired: { name: node } }) => ({ node, resource: 'model', text: 'which models are on the node' })),
});

export const prune = ownGoal(deletion, { before: preconditions, isBarring: true });
