import { type LinkEnd, linkEndText } from '../../model/node.ts';
import type { Mismatch, WantedLink } from './mismatch.ts';
import type { Move } from './moves.ts';
import { compareEnds, isSameEnd } from './receptacle-view.ts';
import { type Reuse, reuses } from './reuse-cables.ts';
import type { WrongCable } from './wrong-cables.ts';

/** One end of a cable on its way to the far receptacle of a link, whose near one holds the end that stays. */
interface Shift {
  readonly stays: LinkEnd;
  /** Absent when that end is in a Mac outside the file. */
  readonly from?: LinkEnd;
  readonly to: LinkEnd;
  readonly outside?: string;
}

function shiftOf(cable: WrongCable, link: WantedLink): readonly Shift[] {
  const stays = cable.ends.find((end) => link.ends.some((one) => isSameEnd(one, end)));
  const to = stays === undefined ? undefined : link.ends.find((end) => !isSameEnd(end, stays));
  const from = cable.ends.find((end) => end !== stays);
  if (stays === undefined || to === undefined) return [];
  const outside = cable.outside === undefined ? {} : { outside: cable.outside };
  return [{ stays, to, ...(from === undefined ? {} : { from }), ...outside }];
}

const moveOf = ({ stays, from, to, outside }: Shift): Move =>
  from === undefined
    ? { kind: 'move-outside-end', at: stays, model: outside ?? 'unknown', to }
    : { kind: 'move-end', from, to };

/** The same round, told from its first receptacle in printing order. */
function fromSmallest(round: readonly LinkEnd[]): readonly LinkEnd[] {
  const [smallest] = round.toSorted(compareEnds);
  const start = smallest === undefined ? 0 : round.indexOf(smallest);
  return [...round.slice(start), ...round.slice(0, start)];
}

/** What goes round: the end in each receptacle has to go where the next one is. */
function roundFrom(start: LinkEnd, shiftByFrom: ReadonlyMap<string, Shift>): readonly LinkEnd[] {
  const round = [start];
  for (let next = shiftByFrom.get(linkEndText(start))?.to; next !== undefined && !isSameEnd(next, start); ) {
    round.push(next);
    next = shiftByFrom.get(linkEndText(next))?.to;
  }
  return round;
}

/** Each end moves once its place is free; what only waits for one another goes round. */
function inOrder(shifts: readonly Shift[]): readonly Move[] {
  const moves: Move[] = [];
  let left = shifts;
  while (left.length > 0) {
    const taken = new Set(left.flatMap(({ from }) => (from === undefined ? [] : [linkEndText(from)])));
    const next = left.find(({ to }) => !taken.has(linkEndText(to)));
    if (next === undefined) break;
    moves.push(moveOf(next));
    left = left.filter((one) => one !== next);
  }
  const shiftByFrom = new Map(left.flatMap((one) => (one.from === undefined ? [] : [[linkEndText(one.from), one]])));
  const done = new Set<string>();
  for (const { from } of left) {
    if (from === undefined || done.has(linkEndText(from))) continue;
    const round = roundFrom(from, shiftByFrom);
    for (const end of round) done.add(linkEndText(end));
    moves.push({ kind: 'rotate-ends', ends: fromSmallest(round) });
  }
  return moves;
}

function movesFor({ cables, links }: Mismatch, reuse: Reuse): readonly Move[] {
  const served = new Set(reuse.values());
  const removes = cables
    .filter((cable) => !reuse.has(cable))
    .map(({ ends, outside }): Move => {
      return { kind: 'remove-cable', ends, ...(outside === undefined ? {} : { outside }) };
    });
  const shifts = [...reuse].flatMap(([cable, link]) => shiftOf(cable, link));
  const adds = links.filter((link) => !served.has(link)).map(({ ends }): Move => ({ kind: 'add-cable', ends }));
  return [...removes, ...inOrder(shifts.toSorted((a, b) => compareEnds(a.to, b.to))), ...adds];
}

const nodesOf = (move: Move): readonly string[] => {
  switch (move.kind) {
    case 'move-end':
      return [move.from.node, move.to.node];
    // Somebody else's Mac is a place to go to as well.
    case 'move-outside-end':
      return [' outside', move.to.node];
    default:
      return [...move.ends.map(({ node }) => node as string), ...('outside' in move ? [' outside'] : [])];
  }
};

/** The moves of a piece with nothing unclear in it; among equally short lists the one with the fewest Macs to go to. */
export function pieceMoves(mismatch: Mismatch): readonly Move[] {
  if (mismatch.links.length === 0) return [];
  const [best = []] = reuses(mismatch)
    .map((reuse) => movesFor(mismatch, reuse))
    .map((moves) => ({ moves, walk: new Set(moves.flatMap(nodesOf)).size, text: JSON.stringify(moves) }))
    .toSorted((a, b) => a.walk - b.walk || (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ moves }) => moves);
  return best;
}
