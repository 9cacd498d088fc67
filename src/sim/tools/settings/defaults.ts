import type { NodePath } from '../../../model/node-path.ts';
import type { PlistValue } from '../../model/plist.ts';
import { apple, published, unconfirmed } from '../source.ts';
import { lines, type Pattern, type Row, type TableTool, type View } from '../tool.ts';
import { defaultsWrites } from './defaults-write.ts';

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
