import { known } from '../model/known.ts';
import type { Fact } from './fact.ts';
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
 * Whether Spotlight indexes any volume, from
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
    const volumes = lines.filter((line) => line.startsWith('/'));
    const found = lines.filter((line) => !line.startsWith('/')).map((line) => states[line.trim()]);
    if (code === '0' && found.includes('on')) return known('on');
    const isWhole = code === '0' && volumes.length > 0 && found.length === volumes.length;
    return isWhole && found.every((state) => state === 'off')
      ? known('off')
      : garbled(answer, 'printed no state of Spotlight that can be read');
  },
};
