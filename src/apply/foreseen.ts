import { updateState } from '../engine/diagnose/update-states.ts';
import { makePlan } from '../engine/plan/make-plan.ts';
import { batchesOf } from '../engine/playbooks/batches.ts';
import {
  expandTask,
  inFleetOrder,
  laterTasks,
  type PlayScope,
  playNodes,
  type TaskWork,
  tasksOf,
} from '../engine/playbooks/expand.ts';
import type { Play, Task } from '../engine/playbooks/playbook.ts';
import { hungIn } from '../engine/playbooks/ready.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import type { FleetObservation } from '../rack/examination.ts';
import type { ForeseenBatch } from './playbook-report.ts';

/** The tasks of all batches and their rescues, each with its plan for the nodes' current state. */
export async function foreseen(
  plays: readonly Play[],
  scope: PlayScope,
  observe: (nodes: readonly NodeName[]) => Promise<FleetObservation>,
): Promise<readonly ForeseenBatch[]> {
  const { desired } = scope;
  const batches = plays.flatMap((one, play) =>
    batchesOf(one, playNodes(one, scope), desired).map((nodes) => {
      const worksOf = (tasks: readonly Task[]) =>
        tasks.map((task, index) => {
          const later = laterTasks(plays, { play, nodes, tasks: tasks.slice(index + 1) }, scope);
          return { task, work: expandTask(task, scope, nodes, later) };
        });
      const rescue = worksOf(one.rescue ?? []).map((work) => ({ ...work, isRescue: true as const }));
      return { play, nodes, works: [...worksOf(tasksOf(one)), ...rescue] };
    }),
  );
  const works = batches.flatMap((one) => one.works.map(({ work }) => work));
  const names = inFleetOrder(
    works.flatMap((work) =>
      work.kind === 'plan' ? work.targets : work.kind === 'ready' || work.kind === 'upgrade' ? work.nodes : [],
    ),
    scope,
  );
  if (names.length === 0) return batches;
  const observation = await observe(names);
  return batches.map((batch) => ({
    ...batch,
    works: batch.works.map((one) => {
      const { work } = one;
      if (work.kind === 'ready') return { ...one, hung: hungIn(work, { observation, desired }) };
      const planned = work.kind === 'upgrade' ? upgradeAhead(work, { observation, desired }) : work;
      if (planned?.kind !== 'plan') return one;
      const { goal, targets } = planned;
      return { ...one, plan: makePlan({ goal, desired, observation, targets }) };
    }),
  }));
}

type WorkOf<K extends TaskWork['kind']> = Extract<TaskWork, { readonly kind: K }>;

/** The plan that shows the effects of an upgrade; undefined if the file has no version. */
export function upgradeAhead(
  { what, nodes, placements }: WorkOf<'upgrade'>,
  { observation, desired }: { readonly observation: FleetObservation; readonly desired: DesiredFleet },
): WorkOf<'plan'> | undefined {
  if (what !== 'macos')
    return { kind: 'plan', goal: { kind: 'converge', only: ['runtime', 'placement'] }, targets: nodes };
  const { version, updateDriver } = desired.macos;
  if (version === undefined) return undefined;
  const left = nodes.filter(
    (node) => updateState(version, { node, facts: observation.nodes[node]?.facts, offers: undefined }).kind !== 'done',
  );
  if (left.length === 0) return { kind: 'plan', goal: { kind: 'start', placements }, targets: nodes };
  if (updateDriver === undefined)
    return { kind: 'plan', goal: { kind: 'stop', placements, back: placements }, targets: nodes };
  const install = { to: `macOS ${version}`, on: {} };
  return { kind: 'plan', goal: { kind: 'reboot', nodes: left, back: placements, install }, targets: nodes };
}
