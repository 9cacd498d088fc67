import { type Page, plainPaint } from '../../src/report/page.ts';

/** A page of 80 columns in ASCII without color, of a real rack unless changed. */
export const plainPage = (own: Partial<Page> = {}): Page => ({
  columns: 80,
  unicode: false,
  paint: plainPaint,
  isSimulated: false,
  ...own,
});
