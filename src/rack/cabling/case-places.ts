import { type CaseFace, type CasePlace, macModel } from '../../model/macs.ts';

/** How many Thunderbolt receptacles each face of a model has; undefined where that is unknown. */
export function caseFaces(model: string): readonly CaseFace[] | undefined {
  const faces = macModel(model)?.faces ?? [];
  return faces.length === 0 ? undefined : faces;
}

/** The receptacles of a model whose place on the case is known; undefined for an unknown model. */
export const casePlaces = (model: string): readonly CasePlace[] | undefined => macModel(model)?.places;

/** Where a receptacle of a model is, for a person at the rack: `back, next to Ethernet`. Undefined where unknown. */
export const placeWords = (model: string | undefined, receptacle: number): string | undefined =>
  model === undefined ? undefined : casePlaces(model)?.find((place) => place.receptacle === receptacle)?.words;

/** The faces in words: `4 on the back, 2 on the front`. */
export const facesWords = (faces: readonly CaseFace[]): string =>
  faces.map(({ side, sockets }) => `${sockets} on the ${side}`).join(', ');
