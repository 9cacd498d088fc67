import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { mapKnown } from '../../model/known.ts';
import { everyNodeText } from '../../model/node.ts';
import { placementSubject } from '../../model/subject.ts';
import { prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { clientCounts, type PlacementSurvey, surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { viewOf } from '../plan/view.ts';
import type { TaskWork } from './expand.ts';
import { isOpen, windowText } from './windows.ts';

type ReadyWork = Extract<TaskWork, { readonly kind: 'ready' }>;

interface SeenBatch {
  readonly observation: FleetObservation;
  readonly desired: DesiredFleet;
}

const viewFor = ({ nodes }: ReadyWork, { observation, desired }: SeenBatch) =>
  viewOf({ desired, observation, targets: nodes });

/** The placements that run without a proof that their requests can finish, if the play would stop them. */
export const hungIn = (work: ReadyWork, seen: SeenBatch): readonly PlacementSurvey[] =>
  work.sparesHung
    ? surveyPlacements(viewFor(work, seen)).filter(
        ({ name, state, silent }) =>
          work.placements.includes(name) && (state === 'hung' || state === 'unknown' || silent === true),
      )
    : [];

/** The placements that cannot be drained, one problem each. */
export const undrainedIn = (work: ReadyWork, seen: SeenBatch): readonly Diagnostic[] =>
  hungIn(work, seen).map(({ name, nodes, state, evidence }) =>
    diagnose('task/not-drained', {
      subject: placementSubject(name),
      detail: `${name} on ${everyNodeText(nodes)} ${state === 'unknown' ? 'is in an unknown state' : 'hangs'}: ${evidence.replace(/\.$/, '')}.`,
    }),
  );

/** Why a batch may not begin at this time, except for its commands; empty if it may. */
export function obstaclesIn(work: ReadyWork, seen: SeenBatch & { readonly epochMs: number }): readonly Diagnostic[] {
  const { windows, requests } = work;
  const closed = isOpen(windows, seen.epochMs)
    ? []
    : [diagnose('task/outside-window', { detail: `Open: ${windows.map(windowText).join('; ')}.` })];
  return [...closed, ...(requests === undefined ? [] : busyIn(work, requests, seen))];
}

/** The placements with more requests in flight. A placement without a count is busy. */
function busyIn(work: ReadyWork, most: number, seen: SeenBatch): readonly Diagnostic[] {
  const view = viewFor(work, seen);
  const counts = clientCounts(view, surveyPlacements(view));
  return work.placements.flatMap((name): readonly Diagnostic[] => {
    const status = counts.find(({ placement }) => placement === name)?.status;
    const inFlight = status && mapKnown(status, ({ running, waiting }) => running + waiting);
    if (inFlight?.kind === 'known' && inFlight.value <= most) return [];
    const why =
      inFlight === undefined
        ? 'it has no gateway that counts its requests'
        : inFlight.kind === 'unknown'
          ? `its requests are unknown: ${inFlight.detail}`
          : `${inFlight.value} in flight, and the limit is ${most}`;
    return [diagnose('task/blocked', { subject: placementSubject(name), detail: prose`${name}: ${why}.` })];
  });
}
