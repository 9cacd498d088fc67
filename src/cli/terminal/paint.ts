import type { Page } from '../../report/page.ts';
import type { Console } from './console.ts';
/** How a piece of text is meant; colour only repeats what the words already say. */
export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

const sgr: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  strong: [1, 22],
};

/** A painter for the terminal, or one that leaves every text as it is. */
export function paintFor(hasColor: boolean): (tone: Tone, text: string) => string {
  if (!hasColor) return (_tone, text) => text;
  return (tone, text) => `\u001b[${sgr[tone][0]}m${text}\u001b[${sgr[tone][1]}m`;
}

/** The page of an answer on this console. */
export const pageFor = ({ columns, hasUnicode, hasColor, isSimulated }: Console): Page => ({
  columns,
  unicode: hasUnicode,
  paint: paintFor(hasColor),
  isSimulated,
});
