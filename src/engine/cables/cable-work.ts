import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/node.ts';
import { subjectEnds } from '../../model/subject.ts';
import { appliedBefore, bridgesBefore } from '../../rack/cables/before-cables.ts';
import { placeAt } from '../../rack/cables/receptacle-place.ts';
import { endWords, moveText } from '../../rack/cabling/cabling-text.ts';
import type { JudgedLink } from '../../rack/cabling/judge-cabling.ts';
import { type Move, type MoveGroup, moveEnds, takenEnds } from '../../rack/cabling/moves.ts';
import { isSameEnd } from '../../rack/cabling/receptacle-view.ts';
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
