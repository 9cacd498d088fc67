/** The examples on a page of the documentation. */
import { parse } from 'yaml';
import { blocksOf } from '../page-text.ts';
import type { FileValue } from './converge-file.ts';

/** A part of a cluster file with runtimes, models and placements. */
export interface Snippet {
  readonly runtimes: FileValue;
  readonly models: FileValue;
  readonly placements: FileValue;
}

/** Every YAML block of a page that has runtimes. */
export const snippetsIn = (page: string): readonly Snippet[] =>
  blocksOf(page)
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => parse(text))
    .filter((value) => 'runtimes' in value);
