import type { Reader } from '../diagnostics/prose-text.ts';
/** How a piece of text is meant. Colour only repeats what the words and marks already say. */
export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

/** Sets text off for a terminal, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

/** Leaves every text as it is. */
export const plainPaint: Paint = (_tone, text) => text;

/** What a text is laid out on, and for whom. */
export interface Page extends Reader {
  /** At least 20. */
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint: Paint;
}

const usualColumns = 80;
const fewestColumns = 20;

/** The width to lay out for: 80 for anything that is no width, never below 20. */
export const pageColumns = (columns: number): number =>
  Number.isFinite(columns) && columns >= 1 ? Math.max(fewestColumns, Math.floor(columns)) : usualColumns;

/** What a page is made from: the paint leaves text as it is unless given. */
export interface PageInput extends Reader {
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint?: Paint;
}

/** The page of an answer. */
export const pageOf = ({ columns, unicode, paint = plainPaint, isSimulated }: PageInput): Page => ({
  columns: pageColumns(columns),
  unicode,
  paint,
  isSimulated,
});

/** `-> `, or an arrow where the terminal has one. */
export const arrow = ({ unicode }: Page): string => (unicode ? '→ ' : '-> ');
