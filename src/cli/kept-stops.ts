import type { PlaybookReport } from '../apply/playbook-report.ts';
import type { NodeName } from '../model/node.ts';
import type { Plan } from '../plan/plan.ts';
import type { Pending } from '../report/pending-json.ts';

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
      ({ node, code, resource, address = '' }) => [node, code, resource, address].join(' '),
    ),
  };
}

/**
 * The plan of the last look after a restart or a reboot, with what kept it from its work: a placement that serves
 * because nobody could stop it was not restarted, and that look alone cannot show it.
 */
export function withKeptStops(last: Plan, { works }: Pick<PlaybookReport, 'works'>): Plan {
  return { ...last, ...keptBy(works, (kind) => kind === 'stop' || kind === 'reboot', [last]) };
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
