import { InvalidArgumentError } from 'commander';
import { isTrustWord, trustForm } from '../model/trust.ts';
import { type LogLevel, logLevels } from './files/event-lines.ts';
import { parseDuration, type Verb } from './verb.ts';

export function readDuration(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === undefined) throw new InvalidArgumentError('Enter up to a day in ms, s, m or h, such as 30s.');
  return durationMs;
}

export function readCount(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text)) throw new InvalidArgumentError('Enter a whole number from 1 to 9999.');
  return Number(text);
}

export function readLevel(text: string): LogLevel {
  const level = logLevels.find((one) => one === text);
  if (level === undefined) throw new InvalidArgumentError(`Levels: ${logLevels.join(', ')}.`);
  return level;
}

export function readList(text: string, earlier: readonly string[] = []): readonly string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.includes('')) throw new InvalidArgumentError('Separate names by single commas.');
  return [...earlier, ...words];
}

/** A repeated option adds to a list; a repeated single value would hide the first one, so it is refused. */
export const readOption =
  ({ isList }: Verb['options'][number]) =>
  (text: string, earlier: string | undefined): string => {
    if (earlier !== undefined && isList !== true) throw new InvalidArgumentError('It is given twice.');
    return earlier === undefined ? text : `${earlier},${text}`;
  };

/** A value of `--trust`: KIND=VALUE. */
export function readTrust(text: string, earlier?: readonly string[]): readonly string[] {
  if (!isTrustWord(text.trim())) throw new InvalidArgumentError(trustForm);
  return collect(text, earlier);
}

export const collect = (text: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  text,
];
