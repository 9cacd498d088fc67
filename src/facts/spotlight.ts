import { known } from '../model/known.ts';
import type { SpotlightVolume } from '../model/mac-settings.ts';
import type { Fact } from './fact.ts';
import { isName } from './grammar.ts';
import { settingAnswer } from './node-setting.ts';
import { nodeSettings } from './probes/system.ts';
import { garbled } from './read-answer.ts';

/** What `mdutil` says of a volume, below the line with its path. */
const states: Readonly<Record<string, 'on' | 'off'>> = {
  'Indexing enabled.': 'on',
  'Indexing disabled.': 'off',
  'Indexing and searching disabled.': 'off',
};

/**
 * Whether Spotlight indexes each volume, from
 *
 *     /System/Volumes/Data:
 *     \tIndexing enabled.
 */
export const spotlight: Fact<'spotlight'> = {
  name: 'spotlight',
  from: [nodeSettings],
  parse: ([answer]) => {
    const said = settingAnswer(answer, 'spotlight');
    if (said.kind === 'unknown') return said;
    const { code, lines } = said.value;
    const found = code === '0' ? volumesOf(lines) : undefined;
    return found === undefined ? garbled(answer, 'printed no state of Spotlight that can be read') : known(found);
  },
};

/** Undefined where anything is no path and no state of one, or where a volume stands there twice. */
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
  if (found.size === 0) return undefined;
  return [...found].map(([volume, [word = '', ...more]]) => ({
    volume,
    state: (more.length === 0 ? states[word] : undefined) ?? 'other',
  }));
}
