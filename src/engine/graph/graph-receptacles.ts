import type { CasePlace } from '../../model/macs.ts';
import type { LinkEnd, NodeName } from '../../model/node.ts';
import { viewText } from '../../rack/cabling/cabling-text.ts';
import { type Cabling, linkAt } from '../../rack/cabling/judge-cabling.ts';
import { type ReceptacleSight, sightOf } from '../../rack/cabling/receptacle-sight.ts';
import { isSameEnd, type ReceptacleView } from '../../rack/cabling/receptacle-view.ts';
import { viewAt } from '../../rack/cabling/see-receptacles.ts';
import type { GraphAct } from './graph-cables.ts';

/** One receptacle of the drawing. */
export interface GraphReceptacle {
  readonly receptacle: number;
  /** What is seen beside what the file says; where only the file was read: `declared` or `free`. */
  readonly sight: ReceptacleSight | 'declared' | 'free';
  /** Absent where it is unknown. */
  readonly place?: CasePlace;
  /** What is seen there, in words (unescaped); absent where only the file was read. */
  readonly sees?: string;
}

/** A Mac at the end of a cable that is not a node of the file, as far as anybody can say. */
export interface GraphStray {
  readonly at: LinkEnd;
  /** `unidentified` may be a node that could not be looked at, `ambiguous` is one of two that answer as the same Mac. */
  readonly kind: 'foreign' | 'unidentified' | 'ambiguous';
  /** As it calls itself (unescaped). */
  readonly model: string;
  /** Docks or hubs between. */
  readonly hubsBetween: number;
  /** Whether the file declares another cable in that receptacle. */
  readonly isInTheWay: boolean;
  /** The numbers of the acts that touch its cable. */
  readonly moves: readonly number[];
}

/** The receptacles of one node. */
export interface ReceptacleQuestion {
  readonly cabling: Cabling;
  readonly name: NodeName;
  /** Those that it should have; what is seen beyond them is added. */
  readonly numbers: readonly number[];
  readonly placeOf: (receptacle: number) => CasePlace | undefined;
  readonly isDeclaredOnly: boolean;
}

function judged({ cabling, isDeclaredOnly }: ReceptacleQuestion, view: ReceptacleView): GraphReceptacle['sight'] {
  const link = linkAt(cabling.links, view.at);
  if (isDeclaredOnly) {
    return link === undefined ? 'free' : 'declared';
  }
  return sightOf(view, link);
}

/** Every receptacle that a node shows, or that it should have when nobody looked, and those that links name. By number. */
export function graphReceptacles(question: ReceptacleQuestion): readonly GraphReceptacle[] {
  const { cabling, name, numbers, placeOf, isDeclaredOnly } = question;
  const seen = cabling.rack.views.filter((view) => view.at.node === name).map((view) => view.at.receptacle);
  const named = cabling.links.flatMap(({ link }) => link.ends).filter((end) => end.node === name);
  const isSeen = cabling.rack.seenNodes.includes(name);
  const all = isSeen ? [...seen, ...named.map((end) => end.receptacle)] : numbers;
  return [...new Set(all)]
    .toSorted((a, b) => a - b)
    .map((receptacle) => {
      const view = viewAt(cabling.rack, { node: name, receptacle });
      const place = placeOf(receptacle);
      return {
        receptacle,
        sight: judged(question, view),
        ...(place === undefined ? {} : { place }),
        ...(isDeclaredOnly ? {} : { sees: viewText(view) }),
      };
    });
}

/** At a link that cannot be judged a stranger is most likely just the node that could not be looked at. */
const isExpected = ({ links }: Cabling, at: LinkEnd): boolean => linkAt(links, at)?.judgement.kind === 'unknown';

/** The Macs that are seen and are no node, by the receptacle that sees them. */
export const graphStrays = (cabling: Cabling, acts: readonly GraphAct[]): readonly GraphStray[] =>
  cabling.rack.views.flatMap((view) =>
    view.peers.flatMap((peer): readonly GraphStray[] =>
      peer.kind === 'node' || (peer.kind !== 'foreign' && isExpected(cabling, view.at))
        ? []
        : [
            {
              at: view.at,
              kind: peer.kind,
              model: peer.model,
              hubsBetween: peer.hubsBetween,
              isInTheWay: linkAt(cabling.links, view.at) !== undefined,
              moves: acts.flatMap((act, index) =>
                act.takes.some((end) => isSameEnd(end, view.at)) ? [index + 1] : [],
              ),
            },
          ],
    ),
  );
