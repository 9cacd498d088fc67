import { needsFastLink } from '../../desired/layouts.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/node.ts';
import { subjectEnds } from '../../model/subject.ts';
import { appliedBefore, bridgesBefore } from '../../rack/cables/before-cables.ts';
import { placeAt } from '../../rack/cables/receptacle-place.ts';
import { endWords, moveText, viewText } from '../../rack/cabling/cabling-text.ts';
import { type JudgedLink, type SeenRack, viewAt } from '../../rack/cabling/judge-cabling.ts';
import { type Move, type MoveGroup, moveEnds, takenEnds } from '../../rack/cabling/moves.ts';
import { isSameEnd, type ReceptacleView } from '../../rack/cabling/receptacle-view.ts';
import { type Examination, examine, type FleetObservation } from '../../rack/examination.ts';
import { type RunningPlacement, runningPlacements } from '../../rack/placement/members.ts';
import { fleetFindings, type JoinedPair, joinedNodes, runningOver } from '../diagnose/diagnose-fleet.ts';
import type { FactName } from '../observe/facts.ts';

/** The facts that cables are judged by: who is who, what is plugged in and where, what is bridged, what runs over it. */
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

/** One act of hands, with what has to be done before it. */
export interface CableAct {
  /** A move, or what puts a cable right that is where it should be. */
  readonly kind: Move['kind'] | 'plug-straight' | 'plug-again';
  /** Every receptacle that it names. */
  readonly ends: readonly LinkEnd[];
  /** Those of them out of which it takes a cable. */
  readonly takes: readonly LinkEnd[];
  /** In the imperative. */
  readonly shortText: string;
  /** The same with the places on the case as far as they are known. */
  readonly text: string;
  /** Placements that use a cable which this act takes out, or may use it as far as anybody can say. */
  readonly stopFirst: readonly string[];
  /** What must be done about bridges first, in the imperative; empty when nothing. */
  readonly bridgesFirst: string;
  /** The part of it that apply does, as it stands there; empty when apply does none of it. */
  readonly appliedFirst: string;
  /** Whether nothing stands before it, so that hands may go on. */
  readonly isFree: boolean;
}

/** What hands have to do about the cables of a rack, and what they cannot mend. */
export interface CableWork {
  readonly examination: Examination;
  /** Rings of bridged Macs: to be told before anything else. */
  readonly loops: readonly Diagnostic[];
  /** In the order in which they can be done. */
  readonly acts: readonly CableAct[];
  /** What is wrong and no act puts right: about cables, about who is who, and why nodes could not be looked at. */
  readonly findings: readonly Diagnostic[];
}

/** What hands have to do, worked out from one look at the rack (its {@link cableFacts}). */
export function cableWork(desired: DesiredFleet, observation: FleetObservation): CableWork {
  const examination = examine(desired, observation);
  const rack = { examination, running: runningPlacements(desired.placements, observation.nodes) };
  const moved = examination.moves.flatMap((group) => groupActs(rack, group));
  const isMoved = ({ link }: JudgedLink): boolean =>
    moved.some(({ ends }) => ends.some((end) => link.ends.some((one) => isSameEnd(one, end))));
  const others = examination.cabling.links.filter((judged) => !isMoved(judged));
  const acts = [...moved, ...others.flatMap((judged) => cureActs(rack, judged))];
  const found = fleetFindings(desired, observation);
  const failures = new Set(Object.values(observation.failures).flatMap((all) => all.map(({ code }) => code)));
  const isTold = (one: Diagnostic): boolean =>
    one.code.startsWith('identity/') || (one.code.startsWith('cabling/') && !isCured(one, acts));
  return {
    examination,
    acts,
    loops: found.filter(({ code }) => code === 'bridge/loop'),
    findings: found.filter((one) => isTold(one) || failures.has(one.code)),
  };
}

/** Whether an act says what to do about it already. */
function isCured({ subject }: Diagnostic, acts: readonly CableAct[]): boolean {
  const named = subjectEnds(subject);
  return acts.some(({ ends }) => ends.some((end) => named.some((one) => isSameEnd(one, end))));
}

interface Rack {
  readonly examination: Examination;
  readonly running: readonly RunningPlacement[];
}

/** An act before anybody asked what has to come first; `links` are those of which cables are plugged in. */
interface Wish extends Pick<CableAct, 'kind' | 'ends' | 'takes' | 'text'> {
  readonly links: readonly Link[];
  /** Nodes that a cable joins which is taken out, though nothing may be seen of it now. */
  readonly joins?: readonly JoinedPair[];
}

function actOf({ examination, running }: Rack, { links, joins = [], text, ...wish }: Wish): CableAct {
  const pairs = [...joins, ...joinedNodes(examination.cabling, wish.takes)];
  const stopFirst = runningOver(running, pairs).map(({ name }) => name);
  const bridgesFirst = bridgesBefore(examination, links);
  return {
    ...wish,
    shortText: text,
    text: `${text}${placesText(examination, wish.ends)}`,
    stopFirst,
    bridgesFirst,
    appliedFirst: appliedBefore(examination, links),
    isFree: stopFirst.length === 0 && bridgesFirst === '',
  };
}

/** Each act frees what the next one needs, so that one which has to wait lets all behind it wait. */
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

/** What puts a cable right that ends where it should, and is not straight or does not answer. */
function cureActs(rack: Rack, { link, views, judgement }: JudgedLink): readonly CableAct[] {
  const [a, b] = link.ends;
  const wish = { ends: link.ends, takes: link.ends, links: [link], joins: [link.ends.map(({ node }) => node)] };
  const straight = `plug the cable straight from ${endWords(a)} into ${endWords(b)}`;
  switch (judgement.kind) {
    case 'through-hub':
    case 'one-sided':
      return [actOf(rack, { ...wish, kind: 'plug-straight', text: straight })];
    case 'unknown': {
      const text = `unplug the cable in ${endWords(a)}, wait ten seconds, plug it in again`;
      const isSilent = views.every((view) => view.kind === 'silent');
      return isSilent ? [actOf(rack, { ...wish, kind: 'plug-again', text })] : [];
    }
    default:
      return [];
  }
}

/** ` (studio-4:1: back, next to Ethernet)`, for the receptacles whose place on the case is known. */
function placesText(examination: Examination, ends: readonly LinkEnd[]): string {
  const places = ends.flatMap((end) => {
    const place = placeAt(examination, end);
    return place === undefined ? [] : [`${linkEndText(end)}: ${place.words}`];
  });
  return places.length === 0 ? '' : ` (${places.join('; ')})`;
}

/** What one receptacle shows now, or showed until now. */
export interface Plug {
  readonly at: LinkEnd;
  /** The receptacle at the far end, when both ends see each other. */
  readonly far?: LinkEnd;
  /** Whether hands may have been at the far end as well as at this one: then the pair is named, and neither end alone. */
  readonly isEitherEnd: boolean;
  /** What is seen, in words (unescaped). */
  readonly sees: string;
  readonly bitsPerSecond?: number;
}

/** What changed at the receptacles between two looks; a cable that both its ends see is reported once. */
interface PlugChanges {
  readonly plugged: readonly Plug[];
  readonly unplugged: readonly Plug[];
}

const isTaken = ({ kind }: ReceptacleView): boolean => kind === 'silent' || kind === 'device' || kind === 'peer';

const sightOf = (view: ReceptacleView): string => `${view.kind} ${viewText(view)} ${view.linkBitsPerSecond ?? ''}`;

/** `isTold`: whether the far end shows that the plug which hands handled is the one at this end. */
function plugOf(view: ReceptacleView, isTold: (far: LinkEnd) => boolean): Plug {
  const [peer, ...others] = view.peers;
  const isCable = peer?.kind === 'node' && peer.isMutual && others.length === 0;
  return {
    at: view.at,
    ...(isCable ? { far: peer.end } : {}),
    isEitherEnd: isCable && !isTold(peer.end),
    sees: viewText(view),
    ...given({ bitsPerSecond: view.linkBitsPerSecond }),
  };
}

/** Of two ends that see each other only the first. */
const onceEach = (plugs: readonly Plug[]): readonly Plug[] =>
  plugs.filter(({ at }, index) => !plugs.slice(0, index).some(({ far }) => far !== undefined && isSameEnd(far, at)));

/**
 * Compares two looks; of a node that one of them has not seen nothing is said. A cable without its plug at one end shows
 * at neither, so that an end is named alone only where the other one has been taken all the time.
 */
export function plugChanges(before: SeenRack, after: SeenRack): PlugChanges {
  const isFresh = ({ at }: ReceptacleView): boolean => viewAt(before, at).kind === 'empty';
  const changed = after.views.filter((view) => {
    const earlier = viewAt(before, view.at);
    return earlier.kind !== 'unknown' && isTaken(view) && sightOf(view) !== sightOf(earlier);
  });
  // The end that was just plugged in, not the one at which the cable ended all the time.
  const plugged = [...changed.filter(isFresh), ...changed.filter((view) => !isFresh(view))];
  const unplugged = before.views.filter((view) => isTaken(view) && viewAt(after, view.at).kind === 'empty');
  const wasTaken = (far: LinkEnd): boolean => isTaken(viewAt(before, far));
  const isTakenStill = (far: LinkEnd): boolean => isTaken(viewAt(after, far));
  return {
    plugged: onceEach(plugged.map((view) => plugOf(view, (far) => isFresh(view) && wasTaken(far)))),
    unplugged: onceEach(unplugged.map((view) => plugOf(view, isTakenStill))),
  };
}

/** Whether one end sees a node that does not see it: the cable was just plugged in, and one of both was asked before. */
export const isHalfSeen = ({ views }: SeenRack): boolean =>
  views.some(({ peers }) => peers.some((peer) => peer.kind === 'node' && !peer.isMutual));

/** What happened to the cables between two looks, as far as it is worth a line. */
export type CableEvent =
  /** A declared link is met now. */
  | { readonly kind: 'met'; readonly ends: Link['ends']; readonly bitsPerSecond?: number }
  /**
   * Something was plugged in that meets no link; `advice` says what to do with the plug at this place, or with the cable
   * to `far` where it is unknown which of its ends was plugged in.
   */
  | { readonly kind: 'plugged'; readonly at: LinkEnd; readonly far?: LinkEnd; readonly advice: string }
  | { readonly kind: 'unplugged'; readonly plug: Plug };

/** What happened between two looks at a rack that is being cabled. */
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

/** The declared links that match the file, in its order. */
export function metLinks({
  examination,
}: CableWork): readonly { readonly ends: Link['ends']; readonly bitsPerSecond?: number }[] {
  return examination.cabling.links
    .filter((judged) => linkVerdict(examination.desired, judged) === 'fine')
    .map(({ link: { ends }, judgement }) => ({
      ends,
      ...given({ bitsPerSecond: 'bitsPerSecond' in judgement ? judgement.bitsPerSecond : undefined }),
    }));
}

interface Advice {
  readonly at: LinkEnd;
  readonly far?: LinkEnd;
  readonly advice: string;
}

/** What to do about something that was plugged in and meets no link. */
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

/** For an end that only has to go to another receptacle of the same Mac: to the side of this one, if that is known. */
function aside(work: CableWork, { kind, ends }: CableAct): Advice | undefined {
  const [from, to] = ends;
  if (kind !== 'move-end' || from === undefined || to === undefined || from.node !== to.node) return undefined;
  const [here, there] = [from, to].map((end) => placeAt(work.examination, end));
  const words = there === undefined ? '' : ` (${there.words})`;
  const plain = { at: from, advice: `receptacle ${to.receptacle}${words}, please` };
  if (here?.column === undefined || there?.column === undefined || here.side !== there.side) return plain;
  const steps = there.column - here.column;
  const count = counts[Math.abs(steps)];
  const side = steps > 0 ? 'right' : 'left';
  return count === undefined || steps === 0 ? plain : { at: from, advice: `${count} to the ${side}, please` };
}

/** How one declared link counts: `wrong` is what no hands at the cables can mend, `unjudged` what is unknown. */
type LinkVerdict = 'fine' | 'hands' | 'wrong' | 'unjudged';

/** Where nothing needs RDMA a slow cable matches the file, and so does one of unknown speed. */
export function linkVerdict(desired: DesiredFleet, { link, judgement }: JudgedLink): LinkVerdict {
  const isFast = needsFastLink(desired, link.ends);
  switch (judgement.kind) {
    case 'as-declared':
      return isFast && judgement.bitsPerSecond === undefined ? 'unjudged' : 'fine';
    case 'slow':
      if (!isFast) return 'fine';
      // A Mac that can do no more is not mended by another cable.
      return judgement.limitedBy.length > 0 ? 'wrong' : 'hands';
    case 'unknown':
      return 'unjudged';
    case 'no-receptacle':
      return 'wrong';
    default:
      return 'hands';
  }
}
