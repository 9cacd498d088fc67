import { type MacosVersion, withMinor } from '../../model/facts/mac.ts';
import { type Known, known } from '../../model/known.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { swVers } from '../../node/probes/system.ts';
import { defineFact } from '../fact.ts';

/**
 * The version of macOS, from lines such as
 *
 *     ProductVersion:		27.0
 *     BuildVersion:		26A428
 *
 * `BuildVersion` stands last, so an answer that has it is whole. The major is never derived from the build.
 */
export const macosVersionFact = defineFact({
  name: 'macos-version',
  from: [swVers],
  parse: ([answer]): Known<MacosVersion> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const values = new Map<string, string>();
    for (const line of lines.value) {
      const [, key = '', value = ''] = /^([A-Z][A-Za-z]+):\s+(\S.*)$/.exec(line) ?? [];
      if (key === '' || values.has(key)) return garbled(answer, 'printed a line that is no version');
      values.set(key, value);
    }
    const version = values.get('ProductVersion') ?? '';
    const extra = values.get('ProductVersionExtra');
    const build = values.get('BuildVersion') ?? '';
    if (!/^\d{1,3}(?:\.\d{1,3}){0,3}$/.test(version)) return garbled(answer, 'printed no version');
    if (!/^\d{2}[A-Z]\d{1,6}[a-z]?$/.test(build)) return garbled(answer, 'printed no build');
    if (extra !== undefined && !/^\([a-z]\)$/.test(extra)) return garbled(answer, 'printed a strange version extra');
    return known({ version: withMinor(version), build, ...(extra === undefined ? {} : { extra }) });
  },
});
