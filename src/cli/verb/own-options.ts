import { parseDuration } from '../terminal/parse-duration.ts';
import { usageError } from './options.ts';
import type { Run } from './verb.ts';

/** The verb's own option with a text; undefined when it was not given. */
export function textOption({ own }: Run, name: string): string | undefined {
  const value = own[name];
  return typeof value === 'string' ? value : undefined;
}

/** The verb's own option with a whole number from 1 to 9999. @throws FleetError `cli/usage` */
export function readCountOption(run: Run, name: string): number | undefined {
  const text = textOption(run, name);
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]{0,3}$/.test(text)) {
    throw usageError(`"${text}" is no count for --${name}.`, 'Say a whole number from 1 to 9999.');
  }
  return Number(text);
}

/** The verb's own option with an amount of time, in milliseconds. `flag` as it is typed. @throws FleetError `cli/usage` */
export function readTimeOption(run: Run, name: string, flag: string): number | undefined {
  const text = textOption(run, name);
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined) throw usageError(`"${text}" is no time for ${flag}.`, 'Say up to a day in ms, s, m or h.');
  return ms;
}
