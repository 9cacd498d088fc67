import { caseFaces, casePlaces } from '../cabling/case-places.ts';
import type { LinkEnd } from '../model/link.ts';
import type { CasePlace, CaseSide } from '../model/mac-model.ts';
import type { Examination } from './examination.ts';

/** The model that a node reports, or else the one that the file declares; undefined where neither is known. */
export function modelAt({ desired, nodes }: Examination, node: string): string | undefined {
  const hardware = nodes.find(({ name }) => name === node)?.facts.hardware;
  return hardware?.kind === 'known'
    ? hardware.value.model
    : desired.nodes.find(({ name }) => name === node)?.hardware.model;
}

const sides: readonly CaseSide[] = ['front', 'back', 'left', 'right'];

/** The place that the Mac itself reports: `back, right middle` for `back-right-middle`. */
function reportedPlace({ nodes }: Examination, { node, receptacle }: LinkEnd): CasePlace | undefined {
  const places = nodes.find(({ name }) => name === node)?.facts['receptacle-places'];
  const reported = places?.kind === 'known' ? places.value.find((place) => place.receptacle === receptacle) : undefined;
  const [first, ...rest] = reported?.location.split('-') ?? [];
  const side = sides.find((one) => one === first);
  if (side === undefined) return undefined;
  return { receptacle, side, words: rest.length === 0 ? side : `${side}, ${rest.join(' ')}` };
}

/** Whether both are on one face, and in the same half of it where both say which. */
function isSameSpot(model: string, listed: CasePlace, reported: CasePlace): boolean {
  if (listed.side !== reported.side) return false;
  const sockets = caseFaces(model)?.find(({ side }) => side === listed.side)?.sockets ?? 0;
  const half = /, (left|right)\b/.exec(reported.words)?.[1];
  if (listed.column === undefined || half === undefined) return true;
  return half === 'left' ? listed.column <= sockets / 2 : listed.column > sockets / 2;
}

/**
 * Where a receptacle is on the case of its node; undefined where that is unknown. The Mac's own report comes before the
 * table of Macs. The table adds column and landmark where it has a column and does not contradict the Mac.
 */
export function placeAt(examination: Examination, end: LinkEnd): CasePlace | undefined {
  const model = modelAt(examination, end.node) ?? '';
  const listed = casePlaces(model)?.find((place) => place.receptacle === end.receptacle);
  const reported = reportedPlace(examination, end);
  if (listed === undefined || reported === undefined) return reported ?? listed;
  return listed.column !== undefined && isSameSpot(model, listed, reported) ? listed : reported;
}
