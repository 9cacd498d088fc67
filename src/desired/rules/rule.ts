import type { Draft } from '../draft/draft.ts';
import type { Finding, PlaceText } from '../draft/finding.ts';
import type { KeysByDriver } from '../drivers/driver-keys.ts';

/** One meaning rule: what a file with the right form still has wrong. Pure; `place` puts a pointer into words. */
export type Rule = (draft: Draft, place: PlaceText, drivers: KeysByDriver) => readonly Finding[];
