import { escapeText } from '../../diagnostics/escape.ts';
import { listText } from '../../model/lists.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { type Move, moveEnds } from './moves.ts';
import { compareEnds, type ReceptacleView, type SeenPeer } from './receptacle-view.ts';

/** `studio-4 receptacle 3`, the form for people at the rack. */
export const endWords = (end: LinkEnd): string => `${end.node} receptacle ${end.receptacle}`;

function endsWords(ends: readonly LinkEnd[]): string {
  const [first] = ends;
  if (first !== undefined && ends.every((end) => end.node === first.node)) {
    return `${first.node} receptacles ${listText(ends.map((end) => String(end.receptacle)))}`;
  }
  return listText(ends.map(endWords));
}

function rotateText(ends: readonly LinkEnd[]): string {
  const where = endsWords(ends.toSorted(compareEnds));
  if (ends.length === 2) return `swap the cable ends in ${where}`;
  const isOneNode = ends.every((end) => end.node === ends[0]?.node);
  const place = (end: LinkEnd): string => (isOneNode ? String(end.receptacle) : endWords(end));
  const steps = ends.map(
    (end, index) => `the end from ${place(end)} into ${place(ends[(index + 1) % ends.length] ?? end)}`,
  );
  return `unplug the cable ends in ${where}, then plug ${listText(steps)}`;
}

const cableWords = (spare: readonly LinkEnd[] | undefined): string =>
  spare === undefined ? 'a Thunderbolt 5 cable' : `the cable removed from ${endsWords(spare)}`;

const outsideWords = (model: string): string => `a Mac that is not in the file (${escapeText(model)})`;

export const namedEnds = (move: Move): readonly LinkEnd[] => [
  ...moveEnds(move),
  ...('spare' in move && move.spare !== undefined ? move.spare : []),
];

/** One move in plain words: `move the cable end in studio-4 receptacle 3 to receptacle 2`. */
export function moveText(move: Move): string {
  switch (move.kind) {
    case 'move-end': {
      const to = move.from.node === move.to.node ? `receptacle ${move.to.receptacle}` : endWords(move.to);
      return `move the cable end in ${endWords(move.from)} to ${to}`;
    }
    case 'move-outside-end':
      return `move the far end of the cable in ${endWords(move.at)} from ${outsideWords(move.model)} to ${endWords(move.to)}`;
    case 'rotate-ends':
      return rotateText(move.ends);
    case 'add-cable':
      return `connect ${listText(move.ends.map(endWords))} with ${cableWords(move.spare)}`;
    case 'remove-cable':
      return move.outside === undefined
        ? `remove the cable between ${listText(move.ends.map(endWords))}`
        : `remove the cable from ${listText(move.ends.map(endWords))} to ${outsideWords(move.outside)}`;
    case 'replace-cable':
      return `replace the cable between ${listText(move.ends.map(endWords))} with ${cableWords(move.spare)}`;
  }
}

function peerText(peer: SeenPeer): string {
  const hub = peer.hubsBetween > 0 ? ' through a hub' : '';
  switch (peer.kind) {
    case 'node':
      return `${linkEndText(peer.end)}${hub}`;
    case 'foreign':
      return `${outsideWords(peer.model)}${hub}`;
    case 'unidentified':
      return `an unidentified Mac (${peer.model})${hub}`;
    case 'ambiguous':
      return `a Mac that two nodes claim to be (${peer.model})${hub}`;
  }
}

/** Completes the sentence "receptacle 3 sees …". Device names are not escaped. */
export function viewText(view: ReceptacleView): string {
  switch (view.kind) {
    case 'unknown':
      return 'something unknown';
    case 'absent':
      return 'nothing: the Mac has no such receptacle';
    case 'empty':
      return 'nothing';
    case 'silent':
      return 'something that does not answer';
    case 'device':
      return listText(view.deviceNames);
    case 'peer':
      return listText(view.peers.map(peerText));
  }
}
