import type { Severity } from '../../diagnostics/code-entry.ts';
import type { DiagnosticCode } from '../../diagnostics/codes.ts';
import type { Subject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';

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
