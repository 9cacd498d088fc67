import type { CaseFace, CasePlace, MacCase } from './cases/mac-case.ts';
import { macMini2024 } from './cases/mac-mini-2024.ts';
import { macStudioM3Ultra } from './cases/mac-studio-m3-ultra.ts';
import { macStudioM4Max } from './cases/mac-studio-m4-max.ts';
import { macbookProMax } from './cases/macbook-pro-max.ts';

const cases: readonly MacCase[] = [macStudioM3Ultra, macStudioM4Max, macMini2024, macbookProMax];

const caseOf = (model: string): MacCase | undefined => cases.find(({ models }) => models.includes(model));

/** How many Thunderbolt sockets each face of a model has; undefined for a model that is not known. */
export const caseFaces = (model: string): readonly CaseFace[] | undefined => caseOf(model)?.faces;

/**
 * The receptacles of a model whose place on the case is known, by number. A receptacle that is missing here may be in
 * any socket: macOS says of none where it is. Undefined for a model that is not known.
 */
export const casePlaces = (model: string): readonly CasePlace[] | undefined => caseOf(model)?.places;

/** Where a receptacle of a model is, as it is said at the rack: `back, next to Ethernet`. Undefined when nobody knows. */
export const placeWords = (model: string | undefined, receptacle: number): string | undefined =>
  model === undefined ? undefined : casePlaces(model)?.find((place) => place.receptacle === receptacle)?.words;

/** The faces in words: `4 on the back, 2 on the front`. */
export const facesWords = (faces: readonly CaseFace[]): string =>
  faces.map(({ side, sockets }) => `${sockets} on the ${side}`).join(', ');
