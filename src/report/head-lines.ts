import { columnsOf } from '../diagnostics/cells.ts';
import { fitLines } from './layout.ts';
import type { Page } from './page.ts';

/** What stands above a report. */
export interface Head {
  readonly name: string;
  /** A few words: `4 nodes, 6 links`. */
  readonly about: string;
  readonly isSimulated: boolean;
}

/** The first line of a report: which rack, what about it, and at the right edge whether it is simulated. */
export function headLines({ name, about, isSimulated }: Head, page: Page): readonly string[] {
  const painted = `${page.paint('strong', name)}   ${about}`;
  const mark = isSimulated ? 'simulated' : '';
  const room = page.columns - columnsOf(`${name}   ${about}`) - mark.length;
  if (room >= 3) {
    return [`${painted}${' '.repeat(isSimulated ? room : 0)}${mark}`];
  }
  return [name, about, ...(isSimulated ? [mark] : [])].flatMap((line) => fitLines(line, page.columns));
}
