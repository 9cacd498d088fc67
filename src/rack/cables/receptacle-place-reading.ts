import type { CasePlace, CaseSide } from '../../model/macs.ts';
import type { LinkEnd } from '../../model/node.ts';
import { caseFaces, casePlaces } from '../cabling/receptacle-view.ts';
import type { Examination } from '../examination.ts';
import { readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { receptaclePlacesFact } from './receptacle-places-fact.ts';

/** The model that a node reports, otherwise the model in the file; undefined if neither is known. */
export function modelAt({ desired, nodes }: Examination, node: string): string | undefined {
  const seen = readValue(nodes.find(({ name }) => name === node)?.facts, hardwareFact);
  return seen?.model ?? desired.nodes.find(({ name }) => name === node)?.hardware.model;
}

const sides: readonly CaseSide[] = ['front', 'back', 'left', 'right'];

/** Columns of a face from the left, in the words that Macs report. Seen on a Mac15,14. @see dev7a/rdmalink */
const columnsByWord: Readonly<Record<number, readonly string[]>> = {
  2: ['left', 'right'],
  4: ['left', 'left-middle', 'right-middle', 'right'],
};

/** The place that the Mac itself reports: `back, right middle` for `back-right-middle`. */
function reportedPlace(examination: Examination, { node, receptacle }: LinkEnd): CasePlace | undefined {
  const places = readValue(examination.nodes.find(({ name }) => name === node)?.facts, receptaclePlacesFact);
  const reported = places?.find((place) => place.receptacle === receptacle);
  const [first, ...rest] = reported?.location.split('-') ?? [];
  const side = sides.find((one) => one === first);
  if (side === undefined) return undefined;
  const face = caseFaces(modelAt(examination, node) ?? '')?.find((one) => one.side === side);
  const column = (columnsByWord[face?.sockets ?? 0] ?? []).indexOf(rest.join('-')) + 1;
  const words = rest.length === 0 ? side : `${side}, ${rest.join(' ')}`;
  return { receptacle, side, words, ...(column === 0 ? {} : { column }) };
}

/**
 * A receptacle's place on its node's case; undefined if unknown. The Mac's own report takes precedence over the table
 * of Macs. The table's entry, with a landmark such as Ethernet, is used if both name the same hole, or if the Mac names
 * only the face.
 */
export function placeAt(examination: Examination, end: LinkEnd): CasePlace | undefined {
  const listed = casePlaces(modelAt(examination, end.node) ?? '')?.find((place) => place.receptacle === end.receptacle);
  const reported = reportedPlace(examination, end);
  if (listed === undefined || reported === undefined) return reported ?? listed;
  const isSame = listed.side === reported.side && listed.column === reported.column;
  const isOnlyFace = listed.side === reported.side && reported.words === reported.side;
  return listed.column !== undefined && (isSame || isOnlyFace) ? listed : reported;
}
