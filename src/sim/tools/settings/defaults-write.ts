import { withMac } from '../../model/fleet.ts';
import type { PlistDict, PlistValue } from '../../model/plist.ts';
import { apple, published } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

const manual = apple('defaults(1): write DOMAIN KEY -bool | -string VALUE');
const refused = published('"Could not write domain …; exiting" with exit 1, in many public issues');

const forms: readonly WriteForm[] = [
  { form: 'write DOMAIN KEY -bool|-string VALUE', match: "'5:write '*", source: manual },
  { form: 'delete DOMAIN KEY', match: "'3:delete '*", source: refused },
];

const stamp = '2026-11-20 09:41:00.000 defaults[4711:98765] ';

/** The value of `-bool true` or `-string ana`; undefined for another type. */
function typedValue(type: string | undefined, word: string): PlistValue | undefined {
  if (type === '-string') return word;
  if (type !== '-bool') return undefined;
  if (/^(?:true|yes)$/i.test(word)) return true;
  return /^(?:false|no)$/i.test(word) ? false : undefined;
}

/** The domain after the command; undefined for words that are not simulated. */
function changed(dict: PlistDict, [verb, , key = '', type, word = '']: readonly string[]): PlistDict | undefined {
  if (verb === 'delete') return Object.fromEntries(Object.entries(dict).filter(([one]) => one !== key));
  const value = typedValue(type, word);
  return value === undefined ? undefined : { ...dict, [key]: value };
}

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const [verb, domain = '', key = ''] = args;
  const old = mac.domains[domain];
  const dict = old === undefined ? undefined : changed(old, args);
  if (old === undefined || dict === undefined) return undefined;
  if (!isRoot) return { fleet, stderr: lines(`${stamp}Could not write domain ${domain}; exiting`), exitCode: 1 };
  if (verb === 'delete' && !Object.hasOwn(old, key)) {
    return {
      fleet,
      stderr: lines(stamp, `Domain (${domain}) not found.`, 'Defaults have not been changed.'),
      exitCode: 1,
    };
  }
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, domains: { ...one.domains, [domain]: dict } })) };
}

/** `defaults write` and `delete` for the preference domains of the model. */
export const defaultsWrites: Writes = { forms, write };
