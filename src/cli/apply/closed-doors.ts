import type { PlaybookReport } from '../../apply/playbook-report.ts';
import type { StepReport } from '../../apply/run-report.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { doorOf, insideOf } from '../../rack/placement/doors/doors.ts';

/** A door as the steps of a run have left it; `unsure` where nobody knows what became of a step that was to close it. */
interface LeftDoor {
  readonly placement: string;
  readonly node: NodeName;
  readonly state: 'open' | 'closed' | 'unsure';
}

/**
 * What a run that ended without a last look has to say of doors: each that it has closed and not opened again, or behind
 * which it waited for whoever was inside, and what opens it. One line for each placement.
 */
export function closedDoorLines({ works }: Pick<PlaybookReport, 'works'>): readonly Prose[] {
  const doors = new Map<string, LeftDoor>();
  for (const report of works.flatMap(({ run }) => run?.steps ?? [])) {
    for (const door of doorsAfter(report)) doors.set(`${door.node} ${door.placement}`, door);
  }
  const left = [...doors.values()].filter(({ state }) => state !== 'open');
  return [...new Set(left.map(({ placement }) => placement))].map((placement) =>
    lineOf(
      placement,
      left.filter((door) => door.placement === placement),
    ),
  );
}

function doorsAfter({ step, outcome, ms }: StepReport): readonly LeftDoor[] {
  const isDone = outcome === 'changed' || outcome === 'unchanged';
  if (!isDone && ms === 0) return [];
  if (step.act.kind === 'gate') {
    // It only waits behind a door that is closed.
    return step.act.expect.flatMap((patch): readonly LeftDoor[] => {
      const placement = insideOf(patch);
      return placement === undefined ? [] : [{ placement, node: patch.node, state: 'closed' }];
    });
  }
  return step.establishes.flatMap((patch): readonly LeftDoor[] => {
    const { node, value } = patch;
    const placement = doorOf(patch);
    if (placement === undefined || (value !== 'closed' && value !== 'open')) return [];
    return [{ placement, node, state: isDone ? value : 'unsure' }];
  });
}

function lineOf(placement: string, doors: readonly LeftDoor[]): Prose {
  const where = [...new Set(doors.map(({ node }) => node))].join(' and ');
  const isSure = doors.every(({ state }) => state === 'closed');
  const told = `${placement}: its door on ${where} ${isSure ? 'stays closed' : 'may be closed'}.`;
  return prose`${told} What opens it: ${meshwright('start', placement)}, or the next apply.`;
}
