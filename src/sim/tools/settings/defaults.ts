import type { NodePath } from '../../../model/node-path.ts';
import { withMac } from '../../model/fleet.ts';
import type { PlistDict, PlistValue } from '../../model/plist.ts';
import {
  apple,
  lines,
  type Pattern,
  published,
  type Row,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const described = apple('defaults(1): write DOMAIN KEY -bool | -string VALUE');
const refused = published('"Could not write domain …; exiting" with exit 1, in many public issues');

const forms: readonly WriteForm[] = [
  { form: 'write DOMAIN KEY -bool|-string VALUE', match: "'5:write '*", source: described },
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
const defaultsWrites: Writes = { forms, write };

const manual = apple('defaults(1): read, write, delete; a domain may be a path without .plist');
const unset = published(
  'the words for a key that nobody has set, behind a line with the time, quoted in many public issues; exit 1',
);

const path = (domain: string): NodePath => ({ kind: 'node-path', path: domain });

/** A flag is printed as a number. */
const printed = (value: PlistValue): string => String(typeof value === 'boolean' ? Number(value) : value);

const rowsOf = ({ mac }: View): readonly Row[] =>
  Object.entries(mac.domains).flatMap(([domain, dict]) =>
    Object.entries(dict).map(([key, value]) => ({
      args: ['read', path(domain), key],
      source: manual,
      stdout: lines(printed(value)),
    })),
  );

/** Every other key of these domains is unset. */
const patterns: readonly Pattern[] = [
  {
    match: `"3:read $r/Library/Preferences/com.apple."*`,
    body:
      `printf '2026-11-20 09:41:00.000 defaults[4711:98765] \\nThe domain/default pair of (%s, %s) does not exist\\n' "$2" "$3" >&2; ` +
      'exit 1',
    source: unset,
  },
];

/** `defaults` for preference domains of the whole Mac, named by their path. */
export const defaults: TableTool = {
  kind: 'table',
  path: '/usr/bin/defaults',
  rows: rowsOf,
  patterns,
  writes: defaultsWrites,
  usage: {
    text: lines(
      "Command line interface to a user's defaults.",
      'Syntax:',
      "'defaults' [-currentHost | -host <hostname>] followed by one of the following:",
    ),
    exitCode: 255,
    source: unconfirmed("defaults' usage text and exit code 255"),
  },
};
