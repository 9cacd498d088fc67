import { needsFastLink } from '../../desired/layouts.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { NewestMeasurement } from '../../model/measured-cable.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/node.ts';
import { subjectEnds } from '../../model/subject.ts';
import { appliedBefore, bridgesBefore } from '../../rack/cables/bridges-reading.ts';
import { placeAt } from '../../rack/cables/receptacle-place-reading.ts';
import { endWords, moveText, viewText } from '../../rack/cabling/cabling-text.ts';
import { type JudgedLink, type SeenRack, viewAt } from '../../rack/cabling/judge-cabling.ts';
import { type CableStep, type Move, type MoveGroup, moveEnds, takenEnds } from '../../rack/cabling/moves.ts';
import { isSameEnd, type ReceptacleView } from '../../rack/cabling/receptacle-view.ts';
import { type Examination, examine, type FleetObservation } from '../../rack/examination.ts';
import { type RunningPlacement, runningPlacements } from '../../rack/placement/mesh/rank-states.ts';
import { fleetFindings, type JoinedPair, joinedNodes, runningOver } from '../diagnose/diagnose-fleet.ts';
import { areaOf } from '../diagnose/rules.ts';
import type { FactName } from '../observe/facts.ts';

/** The facts needed to check cables: identities, plugged-in cables and their positions, bridges, running placements. */
export const cableFacts: readonly FactName[] = [
  'identity',
  'hardware',
  'thunderbolt',
  'receptacle-places',
  'hardware-ports',
  'interfaces',
  'bridge-preferences',
  'network-services',
  'placements',
  'services',
];

/** One manual step at the cables, with its prerequisites. */
export interface CableAct extends CableStep {
  /** A move, or a fix for a cable in the right place. */
  readonly kind: Move['kind'] | 'plug-straight' | 'plug-again';
  /** `shortText` with known positions on the case. */
  readonly text: string;
  /** The first part of `bridgesFirst` that apply does; empty if apply does none of it. */
  readonly appliedFirst: string;
  /** True if the step can be done now. */
  readonly isFree: boolean;
}

/** The manual steps for a rack's cables, and the problems that these steps do not fix. */
export interface CableWork {
  readonly examination: Examination;
  /** Rings of bridged Macs, to show before anything else. */
  readonly loops: readonly Diagnostic[];
  /** In a workable order; steps that can be done now come first. */
  readonly acts: readonly CableAct[];
  /** Problems that no step fixes: cables, identities, and unobserved nodes. */
  readonly findings: readonly Diagnostic[];
  /** The newest measurement of each cable that was measured. */
  readonly measured: readonly NewestMeasurement[];
}

/** The cable work derived from one observation of the rack (its {@link cableFacts}). */
export function cableWork(
  desired: DesiredFleet,
  observation: FleetObservation,
  measured: readonly NewestMeasurement[] = [],
): CableWork {
  const examination = examine(desired, observation);
  const rack = { examination, running: runningPlacements(desired.placements, observation.nodes) };
  const moved = examination.moves.flatMap((group) => groupActs(rack, group));
  const isMoved = ({ link }: JudgedLink): boolean =>
    moved.some(({ ends }) => ends.some((end) => link.ends.some((one) => isSameEnd(one, end))));
  const others = examination.cabling.links.filter((judged) => !isMoved(judged));
  const acts = [...moved, ...others.flatMap((judged) => cureActs(rack, judged))];
  const found = fleetFindings(desired, observation, measured);
  const failures = new Set(Object.values(observation.failures).flatMap((all) => all.map(({ code }) => code)));
  const isReported = (one: Diagnostic): boolean =>
    areaOf(one) === 'identity' || (['cabling', 'cables'].includes(areaOf(one)) && !isCured(one, acts));
  return {
    examination,
    acts: acts.toSorted((a, b) => Number(b.isFree) - Number(a.isFree)),
    loops: found.filter((one) => hasTrait(one, 'urgent')),
    findings: found.filter((one) => isReported(one) || failures.has(one.code)),
    measured,
  };
}

/** True if a manual step already covers the finding. */
function isCured({ subject }: Diagnostic, acts: readonly CableAct[]): boolean {
  const named = subjectEnds(subject);
  return acts.some(({ ends }) => ends.some((end) => named.some((one) => isSameEnd(one, end))));
}

interface Rack {
  readonly examination: Examination;
  readonly running: readonly RunningPlacement[];
}

/** A manual step without its prerequisites; `links` are the links that its cables create. */
interface PlannedAct extends Pick<CableAct, 'kind' | 'ends' | 'takes' | 'text'> {
  readonly links: readonly Link[];
  /** Pairs of nodes joined by a removed cable, even if the cable is not seen now. */
  readonly joins?: readonly JoinedPair[];
}

function actOf({ examination, running }: Rack, { links, joins = [], text, ...planned }: PlannedAct): CableAct {
  const pairs = [...joins, ...joinedNodes(examination.cabling, planned.takes)];
  const stopFirst = runningOver(running, pairs).map(({ name }) => name);
  const bridgesFirst = bridgesBefore(examination, links);
  return {
    ...planned,
    shortText: text,
    text: `${text}${placesText(examination, planned.ends)}`,
    stopFirst,
    bridgesFirst,
    appliedFirst: appliedBefore(examination, links),
    isFree: stopFirst.length === 0 && bridgesFirst === '',
  };
}

/** Each step frees a receptacle for the next one, so if a step waits, all later steps wait. */
function groupActs(rack: Rack, { mismatch, moves }: MoveGroup): readonly CableAct[] {
  const links = rack.examination.cabling.links
    .map(({ link }) => link)
    .filter(({ ends }) => mismatch.ends.some((end) => isSameEnd(end, ends[0])));
  let isFree = true;
  return moves.map((move) => {
    const act = actOf(rack, {
      kind: move.kind,
      ends: moveEnds(move),
      takes: takenEnds(move),
      text: moveText(move),
      links: move.kind === 'remove-cable' ? [] : links,
    });
    isFree &&= act.isFree;
    return { ...act, isFree };
  });
}

/** Fixes for a cable whose ends are correct but that runs through a hub or does not answer. */
function cureActs(rack: Rack, { link, views, judgement }: JudgedLink): readonly CableAct[] {
  const [a, b] = link.ends;
  const planned = { ends: link.ends, takes: link.ends, links: [link], joins: [link.ends.map(({ node }) => node)] };
  const straight = `plug the cable straight from ${endWords(a)} into ${endWords(b)}`;
  switch (judgement.kind) {
    case 'through-hub':
    case 'one-sided':
      return [actOf(rack, { ...planned, kind: 'plug-straight', text: straight })];
    case 'unknown': {
      const text = `unplug the cable in ${endWords(a)}, wait ten seconds, plug it in again`;
      const isSilent = views.every((view) => view.kind === 'silent');
      return isSilent ? [actOf(rack, { ...planned, kind: 'plug-again', text })] : [];
    }
    default:
      return [];
  }
}

/** The known positions on the case, as text: ` (studio-4:1: back, next to Ethernet)`. */
function placesText(examination: Examination, ends: readonly LinkEnd[]): string {
  const places = ends.flatMap((end) => {
    const place = placeAt(examination, end);
    return place === undefined ? [] : [`${linkEndText(end)}: ${place.words}`];
  });
  return places.length === 0 ? '' : ` (${places.join('; ')})`;
}

/** The current or last reading of one receptacle. */
export interface Plug {
  readonly at: LinkEnd;
  /** The receptacle at the far end, if both ends see each other. */
  readonly far?: LinkEnd;
  /** True if it is unknown which end was handled. Texts then name both ends. */
  readonly isEitherEnd: boolean;
  /** What the receptacle sees, as unescaped text. */
  readonly sees: string;
  readonly bitsPerSecond?: number;
}

const isTaken = ({ kind }: ReceptacleView): boolean => kind === 'silent' || kind === 'device' || kind === 'peer';

const sightOf = (view: ReceptacleView): string => `${view.kind} ${viewText(view)} ${view.linkBitsPerSecond ?? ''}`;

/** `isProven`: whether the far end proves that the plug at this end was handled. */
function plugOf(view: ReceptacleView, isProven: (far: LinkEnd) => boolean): Plug {
  const [peer, ...others] = view.peers;
  const isCable = peer?.kind === 'node' && peer.isMutual && others.length === 0;
  return {
    at: view.at,
    ...(isCable ? { far: peer.end } : {}),
    isEitherEnd: isCable && !isProven(peer.end),
    sees: viewText(view),
    ...given({ bitsPerSecond: view.linkBitsPerSecond }),
  };
}

/** Keeps only the first of two ends that see each other. */
const onceEach = (plugs: readonly Plug[]): readonly Plug[] =>
  plugs.filter(({ at }, index) => !plugs.slice(0, index).some(({ far }) => far !== undefined && isSameEnd(far, at)));

/**
 * Compares two observations and skips nodes missing in either. If one plug is out, neither end shows the cable, so a
 * single end is named only if the other one was always plugged in. A cable seen by both ends is reported once.
 */
export function plugChanges(before: SeenRack, after: SeenRack) {
  const isFresh = ({ at }: ReceptacleView): boolean => viewAt(before, at).kind === 'empty';
  const changed = after.views.filter((view) => {
    const earlier = viewAt(before, view.at);
    return earlier.kind !== 'unknown' && isTaken(view) && sightOf(view) !== sightOf(earlier);
  });
  // The newly plugged end comes first, before the end that was already plugged in.
  const plugged = [...changed.filter(isFresh), ...changed.filter((view) => !isFresh(view))];
  const unplugged = before.views.filter((view) => isTaken(view) && viewAt(after, view.at).kind === 'empty');
  const wasTaken = (far: LinkEnd): boolean => isTaken(viewAt(before, far));
  const isTakenStill = (far: LinkEnd): boolean => isTaken(viewAt(after, far));
  return {
    plugged: onceEach(plugged.map((view) => plugOf(view, (far) => isFresh(view) && wasTaken(far)))),
    unplugged: onceEach(unplugged.map((view) => plugOf(view, isTakenStill))),
  };
}

/** True if only one end sees the other, because the cable was plugged in between the observations of its nodes. */
export const isHalfSeen = ({ views }: SeenRack): boolean =>
  views.some(({ peers }) => peers.some((peer) => peer.kind === 'node' && !peer.isMutual));

/** A cable event between two observations. */
export type CableEvent =
  /** A declared link now matches the file. */
  | { readonly kind: 'met'; readonly ends: Link['ends']; readonly bitsPerSecond?: number }
  /** A plug that matches no link. `advice` is about the plug, or the cable if it is unknown which end was moved. */
  | { readonly kind: 'plugged'; readonly at: LinkEnd; readonly far?: LinkEnd; readonly advice: string }
  | { readonly kind: 'unplugged'; readonly plug: Plug };

export function cableEvents(before: CableWork, after: CableWork): readonly CableEvent[] {
  const changes = plugChanges(before.examination.cabling.rack, after.examination.cabling.rack);
  const met = metLinks(after).filter((link) => !metLinks(before).some((one) => isSameEnd(one.ends[0], link.ends[0])));
  const isMet = ({ at }: Plug): boolean => metLinks(after).some(({ ends }) => ends.some((end) => isSameEnd(end, at)));
  return [
    ...changes.unplugged.map((plug): CableEvent => ({ kind: 'unplugged', plug })),
    ...met.map((link): CableEvent => ({ kind: 'met', ...link })),
    ...changes.plugged
      .filter((plug) => !isMet(plug))
      .map((plug): CableEvent => ({ kind: 'plugged', ...adviceFor(after, plug) })),
  ];
}

/** The declared links that match the file, in file order. */
export function metLinks({ examination }: CableWork) {
  return examination.cabling.links
    .filter((judged) => linkVerdict(examination.desired, judged) === 'fine')
    .map(({ link: { ends }, judgement }) => ({
      ends,
      ...given({ bitsPerSecond: 'bitsPerSecond' in judgement ? judgement.bitsPerSecond : undefined }),
    }));
}

type Advice = Omit<Extract<CableEvent, { readonly kind: 'plugged' }>, 'kind'>;

function adviceFor(work: CableWork, { at, far, isEitherEnd, sees }: Plug): Advice {
  const ends = far === undefined ? [at] : [at, far];
  const act = work.acts.find(({ takes }) => takes.some((end) => ends.some((one) => isSameEnd(one, end))));
  const place = isEitherEnd && far !== undefined ? { at, far } : { at };
  if (act !== undefined) return aside(work, act) ?? { ...place, advice: act.text };
  if (far === undefined) return { at, advice: `sees ${sees}` };
  const cable = isEitherEnd ? 'this cable' : `the cable to ${linkEndText(far)}`;
  return { ...place, advice: `${cable} is not in the file` };
}

const counts = ['', 'one', 'two', 'three', 'four', 'five'];

/** The direction from an end's current receptacle to its new one on the same Mac, if known. */
function aside(work: CableWork, { kind, ends }: CableAct): Advice | undefined {
  const [from, to] = ends;
  if (kind !== 'move-end' || from === undefined || to === undefined || from.node !== to.node) return undefined;
  const [here, there] = [from, to].map((end) => placeAt(work.examination, end));
  const words = there === undefined ? '' : ` (${there.words})`;
  const plain = { at: from, advice: `move it to receptacle ${to.receptacle}${words}` };
  if (here?.column === undefined || there?.column === undefined || here.side !== there.side) return plain;
  const steps = there.column - here.column;
  const count = counts[Math.abs(steps)];
  const side = steps > 0 ? 'right' : 'left';
  return count === undefined || steps === 0 ? plain : { at: from, advice: `move it ${count} to the ${side}` };
}

/** `wrong`: cable work cannot fix it. `unjudged`: unknown. */
type LinkVerdict = 'fine' | 'hands' | 'wrong' | 'unjudged';

/** If nothing needs RDMA, a slow cable, or one of unknown speed, matches the file. */
export function linkVerdict(desired: DesiredFleet, { link, judgement }: JudgedLink): LinkVerdict {
  const isFast = needsFastLink(desired, link.ends);
  switch (judgement.kind) {
    case 'as-declared':
      return isFast && judgement.bitsPerSecond === undefined ? 'unjudged' : 'fine';
    case 'slow':
      if (!isFast) return 'fine';
      // A different cable does not raise a Mac's own speed limit.
      return judgement.limitedBy.length > 0 ? 'wrong' : 'hands';
    case 'unknown':
      return 'unjudged';
    case 'no-receptacle':
      return 'wrong';
    default:
      return 'hands';
  }
}
