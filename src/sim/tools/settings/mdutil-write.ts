import { withMac } from '../../model/fleet.ts';
import { indexingText, volumes } from '../../model/indexing-text.ts';
import { apple, unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

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
export const mdutilWrites: Writes = { forms, write };
