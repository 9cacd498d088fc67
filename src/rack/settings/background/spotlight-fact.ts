import type { SpotlightVolume } from '../../../model/facts/mac-settings.ts';
import { known, unknown } from '../../../model/known.ts';
import { isName } from '../../../node/answers/grammar.ts';
import { garbled, readLines } from '../../../node/answers/read-answer.ts';
import { spotlightIndexes } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';

const noServer = 'Spotlight server is disabled.';

/** What `mdutil` says of a volume, below the line with its path. */
const states: Readonly<Record<string, 'on' | 'off'>> = {
  'Indexing enabled.': 'on',
  'Indexing disabled.': 'off',
  'Indexing and searching disabled.': 'off',
  [noServer]: 'off',
};

/**
 * Whether Spotlight indexes each volume, from
 *
 *     /System/Volumes/Data:
 *     \tIndexing enabled.
 *
 * A Mac without Spotlight's server prints the one line `Spotlight server is disabled.`, and no volume.
 */
export const spotlight: Fact<'spotlight'> = {
  name: 'spotlight',
  from: [spotlightIndexes],
  parse: ([answer]) => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    if (lines.value.at(-1) !== 'end') return unknown('truncated', 'The list of volumes does not end.');
    const said = lines.value.slice(0, -1);
    const found = said.length === 1 && said[0]?.trim() === noServer ? [] : volumesOf(said);
    return found === undefined ? garbled(answer, 'printed no state of Spotlight that can be read') : known(found);
  },
};

/** Undefined where a line is no path and no state of one, where a volume has several, or where it is there twice. */
function volumesOf(lines: readonly string[]): readonly SpotlightVolume[] | undefined {
  const found = new Map<string, string[]>();
  let said: string[] | undefined;
  for (const line of lines) {
    const path = /^(\/.*):$/.exec(line)?.[1];
    if (path === undefined && said === undefined) return undefined;
    if (path === undefined) said?.push(line.trim());
    if (path === undefined) continue;
    if (!isName(path) || found.has(path)) return undefined;
    said = [];
    found.set(path, said);
  }
  if (found.size === 0 || [...found.values()].some((words) => words.length > 1)) return undefined;
  return [...found].map(([volume, [word = '']]) => ({ volume, state: states[word] ?? 'other' }));
}
