import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal, GoalKind } from '../../rack/goal.ts';
import type { DrainView } from '../../rack/placement/endpoint/drain.ts';
import { continueRanks } from './continue.ts';
import { converge } from './converge.ts';
import { downloadMacos } from './download-macos.ts';
import { drain } from './drain.ts';
import { hold } from './hold.ts';
import { installRuntime } from './install-runtime.ts';
import { listFolders } from './list-folders.ts';
import { listPackages } from './list-packages.ts';
import { prune } from './prune.ts';
import { pull } from './pull.ts';
import { reboot } from './reboot.ts';
import type { GoalEntry, Scope } from './scope.ts';
import { start } from './start.ts';
import { stop } from './stop.ts';
import { uninstall } from './uninstall.ts';
import { verifyModels } from './verify-models.ts';

const goals: { readonly [Kind in GoalKind]: GoalEntry<Kind> } = {
  converge,
  stop,
  start,
  continue: continueRanks,
  drain,
  reboot,
  shutdown: reboot,
  hold,
  'download-macos': downloadMacos,
  'install-runtime': installRuntime,
  'verify-models': verifyModels,
  pull,
  'list-folders': listFolders,
  'list-packages': listPackages,
  prune,
  uninstall,
};

const entryOf = ({ kind }: Goal) => goals[kind] as GoalEntry<GoalKind>;

export const scopeOf = (goal: Goal, desired: DesiredFleet): Scope => entryOf(goal).scope(goal, desired);

/** The targets that a goal affects; a drain affects only nodes with a gateway. */
export const targetsForGoal = (goal: Goal, targets: readonly NodeName[], view: DrainView): readonly NodeName[] =>
  entryOf(goal).targets?.(goal, targets, view) ?? targets;

/** The fleet with every placement on the goal's nodes: stops use the running layout, starts the requested one. */
export const fleetForGoal = (goal: Goal, desired: DesiredFleet, { nodes }: FleetObservation): DesiredFleet =>
  entryOf(goal).fleet?.(desired, nodes, goal) ?? desired;
