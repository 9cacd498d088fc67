import { casePlaces } from '../cabling/case-places.ts';
import type { LinkEnd } from '../model/link.ts';
import type { CasePlace } from '../model/mac-model.ts';
import type { Examination } from './examination.ts';

/** The model that a node reports, or else the one that the file declares; undefined where neither is known. */
export function modelAt({ desired, nodes }: Examination, node: string): string | undefined {
  const hardware = nodes.find(({ name }) => name === node)?.facts.hardware;
  return hardware?.kind === 'known'
    ? hardware.value.model
    : desired.nodes.find(({ name }) => name === node)?.hardware.model;
}

/** Where a receptacle is on the case of its node; undefined where that is unknown. */
export const placeAt = (examination: Examination, { node, receptacle }: LinkEnd): CasePlace | undefined =>
  casePlaces(modelAt(examination, node) ?? '')?.find((place) => place.receptacle === receptacle);
