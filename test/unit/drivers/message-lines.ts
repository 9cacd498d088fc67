import { readFileSync } from 'node:fs';
import type { DriverName } from '../../../src/model/desired.ts';

/** A line of a runtime's log, with the message that explains it; `-` for none. */
interface MessageLine {
  readonly drivers: readonly string[];
  readonly id: string;
  readonly line: string;
}

const all = readFileSync(new URL('../../cases/messages.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((row) => row !== '' && !row.startsWith('#'))
  .map((row): MessageLine => {
    const [drivers = '', id = '', line = ''] = row.split('\t');
    return { drivers: drivers.split(' '), id, line };
  });

export const linesOf = (driver: DriverName): readonly MessageLine[] =>
  all.filter(({ drivers }) => drivers.includes(driver));
