import { seenValue } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { joinProse, type Prose, prose } from '../../model/text/prose.ts';
import { diskText } from '../../model/text/units.ts';
import type { Goal } from '../../rack/goal.ts';
import { treesOf } from '../../rack/records/trees-reading.ts';
import type { View } from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { Plan } from './plan.ts';

type PlanParts = Pick<Plan, 'changes' | 'effects'>;

/** How to undo a plan, or what cannot be undone, in one sentence; undefined unless meshwright acts. */
export const undoText = (goal: Goal, plan: PlanParts & Pick<Plan, 'steps'>, view: View): Prose | undefined =>
  plan.steps.some(({ act }) => act.kind !== 'hands') ? textFor(goal, plan, view) : undefined;

function textFor(goal: Goal, plan: PlanParts, view: View): Prose {
  switch (goal.kind) {
    case 'converge':
      return convergeText(plan, view);
    case 'start':
      return prose`To undo: ${aside(meshwright('stop', ...goal.placements))}`;
    case 'stop':
      return (goal.back ?? []).length > 0
        ? 'There is nothing to undo: what this stops is started again.'
        : prose`To undo: ${aside(meshwright('start', ...goal.placements))}`;
    case 'drain':
      return prose`To undo: ${aside(meshwright('start', ...goal.placements))}`;
    case 'continue':
      return 'There is nothing to undo: the ranks only continue.';
    case 'reboot':
      return goal.install === undefined
        ? 'A restart of a Mac cannot be undone.'
        : 'An update of macOS cannot be undone.';
    case 'download-macos':
      return 'There is nothing to undo: nothing is installed. macOS deletes downloads that it does not need.';
    case 'install-runtime':
      return 'There is nothing to undo: nothing uses the installed version yet.';
    case 'shutdown':
      return `To undo: turn on ${everyNodeText(goal.nodes)}.`;
    case 'hold':
      return goal.hold === undefined
        ? prose`To undo: ${aside(meshwright('hold', ...goal.nodes))}`
        : prose`To undo: ${aside(meshwright('release', ...goal.nodes))}`;
    case 'verify-models':
    case 'list-folders':
      return 'There is nothing to undo: models are only read.';
    case 'list-packages':
      return 'To undo: delete the files that this makes next to the lock.';
    case 'pull':
      return prose`To undo: remove ${listText(goal.names)} from the file, then: ${aside(meshwright('models prune'))}`;
    case 'prune':
      return `This cannot be undone: ${againText(plan)}.`;
    case 'uninstall':
      return prose`To undo: \`${aside(meshwright('enroll'))}\`, then \`${aside(meshwright('apply'))}\`${deletedBytes(plan) > 0 ? `; ${againText(plan)}` : ''}.`;
  }
}

const deletedBytes = ({ effects }: PlanParts): number => effects.reduce((sum, { bytes = 0 }) => sum + bytes, 0);

const againText = (plan: PlanParts): string => `the models must be downloaded again (${diskText(deletedBytes(plan))})`;

/** What apply changes again, or removes, once the file does. Other settings of macOS stay as they are. */
const following: readonly string[] = [
  'placement',
  'gateway',
  'runtime',
  'model',
  'link-address',
  'keeper',
  'accounts',
  'staging',
  'hold',
] satisfies ResourceKind[];

function convergeText({ changes }: PlanParts, view: View): Prose {
  const isChanged = (name: string): boolean =>
    changes.some(({ about }) => about.kind === 'runtime' && about.name === name);
  const back = view.desired.runtimes.find(
    ({ name, rolledBackFrom }) => rolledBackFrom !== undefined && isChanged(name),
  );
  if (back !== undefined) return prose`To undo: ${aside(meshwright('rollback', back.name, '--undo'))}`;
  const rollbacks = replacedRuntimes({ changes }, view).map(
    (name) => prose`, or for ${name} alone: \`${aside(meshwright('rollback', name))}\``,
  );
  return prose`To undo: apply the previous file${joinProse(rollbacks, '')}${uninstallText(changes)}.`;
}

function uninstallText(changes: Plan['changes']): Prose {
  if (changes.some(({ about }) => !following.includes(about.kind))) {
    return prose`; macOS settings that it does not name return only with \`${aside(meshwright('uninstall', '--restore'))}\``;
  }
  // Before a first apply, there may be no other file.
  const isNew = changes.every(({ kind }) => kind === 'add');
  return isNew ? prose`, or \`${aside(meshwright('uninstall'))}\`` : '';
}

/** The runtimes of which every node that gets a new version still has the version that it runs now. */
const replacedRuntimes = ({ changes }: Pick<Plan, 'changes'>, { desired, targets }: View): readonly string[] =>
  desired.runtimes.flatMap(({ name, digest }) => {
    const changed = changes.filter(({ about }) => about.kind === 'runtime' && about.name === name);
    const users = targets.filter((target) => changed.some(({ node }) => node === target.desired.name));
    const hasOther = users.every((target) =>
      (seenValue(treesOf(target, { kind: 'runtime', name })) ?? []).some(
        ({ isCurrent, state, whole }) => isCurrent && state === 'intact' && whole !== digest,
      ),
    );
    return users.length > 0 && hasOther ? name : [];
  });
