import type { ReceptacleSight } from '../../rack/cabling/receptacle-sight.ts';
import type { Page, Tone } from '../page.ts';

interface Mark {
  readonly sign: string;
  readonly tone: Tone;
  readonly means: string;
}

const marks: Readonly<Record<ReceptacleSight, Mark>> = {
  'as-declared': { sign: '=', tone: 'good', means: 'as declared' },
  slow: { sign: '~', tone: 'warn', means: 'as declared, but slow' },
  'through-hub': { sign: 'h', tone: 'warn', means: 'through a hub' },
  'one-sided': { sign: '/', tone: 'warn', means: 'seen from one end only' },
  wrong: { sign: 'x', tone: 'bad', means: 'wrong' },
  nothing: { sign: 'o', tone: 'bad', means: 'declared, nothing plugged in' },
  undeclared: { sign: '+', tone: 'warn', means: 'cable not in the file' },
  foreign: { sign: 'f', tone: 'warn', means: 'Mac not in the file' },
  device: { sign: 'd', tone: 'strong', means: 'device' },
  silent: { sign: '!', tone: 'warn', means: 'no answer' },
  empty: { sign: '.', tone: 'dim', means: 'empty' },
  unknown: { sign: '?', tone: 'warn', means: 'unknown' },
};

const order = Object.keys(marks).filter((key): key is ReceptacleSight => key in marks);

/** The bare sign, one column wide. */
export const signOf = (sight: ReceptacleSight, page: Page): string =>
  page.unicode && sight === 'empty' ? '·' : marks[sight].sign;

/** The sign of a sight, set off by its tone as well. */
export const markText = (sight: ReceptacleSight, page: Page): string =>
  page.paint(marks[sight].tone, signOf(sight, page));

/** `= as declared`, one for each sight that occurs, always in the same order. */
export const legendTexts = (sights: ReadonlySet<ReceptacleSight>, page: Page): readonly string[] =>
  order.filter((sight) => sights.has(sight)).map((sight) => `${signOf(sight, page)} ${marks[sight].means}`);
