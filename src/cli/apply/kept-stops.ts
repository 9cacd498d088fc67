import type { PlaybookReport } from '../../apply/playbook-report.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change, Step } from '../../model/step.ts';
import type { Pending } from '../../report/plan/pending-json.ts';

type Kept = Pick<Plan, 'waiting' | 'blockers'>;

const firstOfEach = <T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] => {
  const byKey = new Map<string, T>();
  for (const one of all) if (!byKey.has(keyOf(one))) byKey.set(keyOf(one), one);
  return [...byKey.values()];
};

/** What kept the works of these kinds from being done: what waits, and the work list of that, each once. */
function keptBy(
  works: PlaybookReport['works'],
  isMeant: (kind: PlaybookReport['works'][number]['task']['kind']) => boolean,
  first: readonly Kept[],
): Kept | undefined {
  const kept = works.flatMap(({ task, plan }) =>
    isMeant(task.kind) && plan !== undefined && plan.waiting.length > 0 ? [plan] : [],
  );
  if (kept.length === 0) return undefined;
  const all = [...first, ...kept];
  return {
    waiting: firstOfEach(
      all.flatMap(({ waiting }) => waiting),
      ({ node, resource }) => `${node} ${resource}`,
    ),
    blockers: firstOfEach(
      all.flatMap(({ blockers }) => blockers),
      ({ node, code, resource, property }) => [node, code, resource, property?.address ?? ''].join(' '),
    ),
  };
}

/** The placement whose rank a step stops or starts. */
const rankOf = ({ act }: Step): string | undefined =>
  act.kind === 'script' && (act.name === 'stop-rank' || act.name === 'kick-rank') ? act.args.placement : undefined;

/** Stops of placements of which no rank was stopped, and none was started either. */
function missedStops(works: PlaybookReport['works']): readonly Change[] {
  const ranks = works.flatMap(({ run }) => run?.steps ?? []).filter(({ step }) => rankOf(step) !== undefined);
  const touched = ranks.filter(({ outcome }) => outcome === 'changed' || outcome === 'unchanged');
  const isMissed = (step: Step): boolean =>
    rankOf(step) !== undefined && !touched.some((one) => rankOf(one.step) === rankOf(step));
  return works.flatMap(({ task, plan, run }) => {
    if (task.kind !== 'stop' || plan === undefined || run === undefined) return [];
    const missed = run.steps.flatMap(({ step }) => (isMissed(step) ? step.changes : []));
    return plan.changes.filter(({ id }) => missed.includes(id));
  });
}

/**
 * The plan of the last check after a restart or a reboot, with the stops that were not done: a placement that still
 * serves was not restarted then, and that check alone cannot show it.
 */
export function withKeptStops(last: Plan, { works }: Pick<PlaybookReport, 'works'>): Plan {
  const changes = firstOfEach([...last.changes, ...missedStops(works)], ({ id }) => id);
  return { ...last, changes, ...keptBy(works, (kind) => kind === 'stop' || kind === 'reboot', [last]) };
}

/** What kept a run from its work, behind which nobody can look: Macs that were to be off. `undefined` when nothing did. */
export function keptWork({ works }: Pick<PlaybookReport, 'works'>): Pending | undefined {
  const kept = keptBy(works, () => true, []);
  return kept === undefined ? undefined : { changes: [], ...kept };
}

/** Nodes that a run told to go off. One whose step failed or was cut off may be off all the same. */
export function toldToGoOff({ works }: Pick<PlaybookReport, 'works'>): readonly NodeName[] {
  const steps = works.flatMap(({ run }) => run?.steps ?? []);
  const wereBegun = steps.filter(
    ({ step, outcome, ms }) =>
      step.act.kind === 'reboot' &&
      step.act.to === 'off' &&
      outcome !== 'skipped' &&
      outcome !== 'blocked' &&
      (outcome !== 'interrupted' || ms > 0),
  );
  return [...new Set(wereBegun.map(({ step }) => step.node))];
}
