import type { Draft } from '../draft.ts';
import type { KeysByDriver } from '../driver-keys.ts';
import type { Finding, PlaceText } from '../finding.ts';

/** One meaning rule: what a file with the right form still has wrong. Pure; `place` puts a pointer into words. */
export type Rule = (draft: Draft, place: PlaceText, drivers: KeysByDriver) => readonly Finding[];
