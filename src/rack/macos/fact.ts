import { type MacosUpdate, type MacosVersion, withMinor } from '../../model/facts/mac.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { isName } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';

const swVers = probe('sw-vers', [tool.swVers], 5_000, 4_096);

/**
 * `softwareupdate --list --no-scan` lists the updates that an earlier scan found, so the Mac contacts no server.
 * It only makes a hint more precise, so its deadline is short.
 * @see softwareupdate(8)
 */
export const softwareUpdateList = probe(
  'software-updates',
  [tool.softwareupdate, '--list', '--no-scan'],
  3_000,
  32_768,
);

const heading = 'Software Update found the following new or updated software:';
const nothing = 'No new software available.';
/** The stream on which the tool prints this, and its exit code, are not known. */
const offline = "Can't connect to the Apple Software Update server.";

/**
 * The macOS updates that the Mac offers, from pairs of lines such as
 *
 *     * Label: macOS 27-26A428
 *     	Title: macOS 27, Version: 27, Size: 11727219KiB, Recommended: YES, Action: restart,
 *
 * A background security improvement has a version such as `26.3.1 (a)`. Other software in the list, such as Safari, is
 * left out. The tool prints no end mark, so only its exit and its frame
 * show that the list is complete.
 */
export const softwareUpdatesFact = defineFact({
  name: 'software-updates',
  from: [softwareUpdateList],
  parse: ([answer]): Known<readonly MacosUpdate[]> => {
    const isOffline = answer !== undefined && `${answer.stdout}\n${answer.stderr}`.split('\n').includes(offline);
    if (isOffline) return unknown('failed', "The Mac could not reach Apple's update server.");
    return andThen(readLines(answer), (lines) => {
      const body = bodyOf(lines);
      if (body === undefined) return garbled(answer, 'did not begin with its title');
      const [first, ...rest] = body;
      if (first === heading) return updatesIn(answer, rest);
      const hasNothing = first === nothing && rest.length === 0;
      if (hasNothing || (body.length === 0 && hasNoUpdates(answer))) return known([]);
      return garbled(answer, 'printed neither updates nor that there are none');
    });
  },
  text: (updates) => [updates.map(updateText)],
});

/**
 * A beta's build, such as 25E5233c, ends with a lowercase letter. So does the build of a background security
 * improvement, such as 25D771280a, but that letter follows six digits.
 */
export const isBeta = ({ build = '' }: { readonly build?: string }): boolean => /[A-Z]\d{1,4}[a-z]$/.test(build);

/** `macOS 26.7 (25G229)`. Titles are left out, because Apple uses several titles for one system. */
export const updateText = (update: MacosUpdate): string => {
  const build = update.build === undefined ? '' : ` (${update.build}${isBeta(update) ? ', beta' : ''})`;
  return `macOS ${versionText(update)}${build}`;
};

/** `26.3.1 (a)`: the version text that must be equal on Macs that use RDMA with each other. */
export const versionText = ({ version, extra }: Pick<MacosVersion, 'version' | 'extra'>): string =>
  extra === undefined ? version : `${version} ${extra}`;

/** The tool prints `No new software available.` to stderr. */
const hasNoUpdates = (answer: Answer | undefined): boolean => answer?.stderr.split('\n').includes(nothing) === true;

/** The lines between the title and the blank lines at the end. Not every macOS version prints that it is searching. */
function bodyOf(lines: readonly string[]): readonly string[] | undefined {
  const [title, blank, ...rest] = lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  if (title !== 'Software Update Tool') return undefined;
  if (blank === undefined) return lines.length > 1 ? [] : undefined;
  if (blank !== '') return undefined;
  return rest[0] === 'Finding available software' ? rest.slice(1) : rest;
}

function updatesIn(answer: Answer | undefined, lines: readonly string[]): ReturnType<typeof softwareUpdatesFact.parse> {
  if (lines.length === 0) return garbled(answer, 'printed a heading without any update');
  if (hasNoUpdates(answer)) return garbled(answer, 'printed updates, and also that there are none');
  const labels = new Set<string>();
  const updates: MacosUpdate[] = [];
  for (let at = 0; at < lines.length; at += 2) {
    const item = itemOf(lines[at] ?? '', lines[at + 1] ?? '');
    if (item === undefined) return garbled(answer, 'printed lines that describe no update');
    if (labels.has(item.label)) return garbled(answer, 'printed one label twice');
    labels.add(item.label);
    if (!item.title.startsWith('macOS ')) continue;
    const [, version, extra] = /^(\d{1,3}(?:\.\d{1,3}){0,3})(?: (\([a-z]\)))?$/.exec(item.version) ?? [];
    if (version === undefined) return garbled(answer, 'printed a macOS without a version');
    updates.push({ ...item, version: withMinor(version), ...given({ extra }) });
  }
  return known(updates);
}

/** One item, with the version as printed. The last part of a label is the build; other parts may have hyphens, too. */
function itemOf(first: string, second: string): MacosUpdate | undefined {
  const label = /^\* Label: (.+)$/.exec(first)?.[1] ?? '';
  const form =
    /^\tTitle: (.+), Version: ([^,]*), Size: \d+[A-Za-z]*, Recommended: (?:YES|NO),(?: [A-Z]\w*: [^,]+,)* ?$/;
  const [, title = '', version = ''] = form.exec(second) ?? [];
  if (!isName(label) || !isName(title)) return undefined;
  const build = /-(\d{2}[A-Z]\d{1,6}[a-z]?)$/.exec(label)?.[1];
  return { label, title, version, ...given({ build }) };
}

/**
 * The macOS version, from lines such as
 *
 *     ProductVersion:		27.0
 *     BuildVersion:		26A428
 *
 * `BuildVersion` is the last line, so an answer with it is complete. The major version is never derived from the build.
 */
export const macosVersionFact = defineFact({
  name: 'macos-version',
  from: [swVers],
  parse: ([answer]): Known<MacosVersion> =>
    andThen(readLines(answer), (lines) => {
      const values = new Map<string, string>();
      for (const line of lines) {
        const [, key = '', value = ''] = /^([A-Z][A-Za-z]+):\s+(\S.*)$/.exec(line) ?? [];
        if (key === '' || values.has(key)) return garbled(answer, 'printed a line that is not a version');
        values.set(key, value);
      }
      const version = values.get('ProductVersion') ?? '';
      const extra = values.get('ProductVersionExtra');
      const build = values.get('BuildVersion') ?? '';
      if (!/^\d{1,3}(?:\.\d{1,3}){0,3}$/.test(version)) return garbled(answer, 'printed no version');
      if (!/^\d{2}[A-Z]\d{1,6}[a-z]?$/.test(build)) return garbled(answer, 'printed no build');
      if (extra !== undefined && !/^\([a-z]\)$/.test(extra))
        return garbled(answer, 'printed an unexpected version extra');
      return known({ version: withMinor(version), build, ...given({ extra }) });
    }),
  text: (macos) => `${versionText(macos)}, build ${macos.build}`,
});
