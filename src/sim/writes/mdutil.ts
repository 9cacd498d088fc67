import { apple, unconfirmed } from '../commands/source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../commands/tool.ts';
import { withMac } from '../fleet.ts';
import { indexingText } from '../indexing-text.ts';

const forms: readonly WriteForm[] = [
  { form: '-a -i on|off', match: "'3:-a -i '*", source: apple('mdutil(1): -i on | off, -a for all volumes') },
  {
    form: '-a -i on|off as somebody who is not root',
    match: "'3:-a -i '*",
    source: unconfirmed('mdutil -a -i off as a user changes nothing and ends with 1'),
  },
];

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const word = args[2];
  if (word !== 'on' && word !== 'off') return undefined;
  if (!isRoot) return { fleet, stderr: lines('Error: insufficient privileges.'), exitCode: 1 };
  const isIndexing = word === 'on';
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, isIndexing })), stdout: indexingText({ isIndexing }) };
}

/** `mdutil -a -i on|off`. */
export const mdutilWrites: Writes = { forms, write };
