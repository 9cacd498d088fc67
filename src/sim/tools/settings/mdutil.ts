import { type MacState, withMac } from '../../model/fleet.ts';
import {
  apple,
  lines,
  published,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

/** The volumes of every Mac. */
const volumes: readonly string[] = ['/', '/System/Volumes/Data', '/System/Volumes/Preboot'];

/** Volumes with their state, as mdutil prints them after a look and after a change. */
const indexingText = ({ indexed }: Pick<MacState, 'indexed'>, shown = volumes): string =>
  shown
    .map((volume) => `${volume}:\n\t${indexed.includes(volume) ? 'Indexing enabled. ' : 'Indexing disabled.'}\n`)
    .join('');

const manual = apple('mdutil(1): -i on | off, of a volume or with -a of all');
const asUser = unconfirmed('mdutil -a -i off as a user changes nothing and ends with 1');

const forms: readonly WriteForm[] = [
  { form: '-a -i on|off', match: "'3:-a -i '*", source: manual },
  { form: '-a -i on|off as somebody who is not root', match: "'3:-a -i '*", source: asUser },
  { form: '-i on|off VOLUME', match: "'3:-i '*", source: manual },
  { form: '-i on|off VOLUME as somebody who is not root', match: "'3:-i '*", source: asUser },
];

/** What is to be done with which volumes; undefined for words that are none of these forms. */
function asked([first, second, third = '']: readonly string[]):
  | { readonly word: string; readonly of: readonly string[] }
  | undefined {
  if (first === '-a' && second === '-i') return { word: third, of: volumes };
  return first === '-i' && second !== undefined && volumes.includes(third) ? { word: second, of: [third] } : undefined;
}

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const wish = asked(args);
  if (wish === undefined || (wish.word !== 'on' && wish.word !== 'off')) return undefined;
  if (!isRoot) return { fleet, stderr: lines('Error: insufficient privileges.'), exitCode: 1 };
  const others = mac.indexed.filter((volume) => !wish.of.includes(volume));
  const indexed = wish.word === 'on' ? [...others, ...wish.of] : others;
  return {
    fleet: withMac(fleet, mac.name, (one) => ({ ...one, indexed })),
    stdout: indexingText({ indexed }, wish.of),
  };
}

/** `mdutil -i on|off`, of one volume or with `-a` of all. */
const mdutilWrites: Writes = { forms, write };

/** `mdutil` for all volumes. */
export const mdutil: TableTool = {
  kind: 'table',
  path: '/usr/bin/mdutil',
  rows: ({ mac }) => [
    {
      args: ['-a', '-s'],
      source: published('a line with the volume, then a tab and "Indexing enabled. ", in many public guides'),
      stdout: indexingText(mac),
    },
  ],
  writes: mdutilWrites,
  usage: {
    text: lines('Usage: mdutil -pEsa -i (on|off) -d volume ...'),
    exitCode: 1,
    source: unconfirmed("mdutil's usage text and exit code 1"),
  },
};
