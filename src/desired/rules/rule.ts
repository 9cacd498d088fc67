import type { Severity } from '../../diagnostics/code-entry.ts';
import type { DiagnosticCode } from '../../diagnostics/diagnose.ts';
import type { Subject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { Draft } from '../draft.ts';
import type { KeysByDriver } from '../runtimes.ts';

/** One meaning rule: what a file with the right form still has wrong. Pure; `place` puts a pointer into words. */
export type Rule = (draft: Draft, place: PlaceText, drivers: KeysByDriver) => readonly Finding[];

/** A place in the cluster file by its JSON pointer; the lines and columns are known only where the text is. */
export interface FindingPlace {
  readonly pointer: string;
  /** Whether the key or the value is meant. */
  readonly at: 'key' | 'value';
  /** Some characters of a text value: offsets from 0, `end` excluded. */
  readonly part?: { readonly start: number; readonly end: number };
}

/** What a meaning rule found. */
export interface Finding extends FindingPlace {
  readonly code: DiagnosticCode;
  readonly severity?: Severity;
  readonly detail: string;
  readonly hint?: Prose;
  readonly label?: string;
  readonly subject?: Subject;
  /** Other places that belong to it. */
  readonly others?: readonly (FindingPlace & { readonly detail: string })[];
}

/** Says where a pointer stands, in words: `line 30`. */
export type PlaceText = (place: FindingPlace) => string;
