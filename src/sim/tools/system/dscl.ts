import type { DirectoryRecord } from '../../model/directory.ts';
import { apple, published } from '../source.ts';
import { lines, type Row, type TableTool, type View } from '../tool.ts';
import { dsclWrites, notFound } from './dscl-write.ts';

const listed = apple('dscl(1): list path [key] prints the name of each record, then the value');
const read = published(
  'issue 33 of DeterminateSystems/nix-installer: a whole `dscl . -read` of an account, keys sorted',
);

/** What is asked of an account and of a group; another list of keys is no row of the table. */
const keys = {
  account: ['GeneratedUID', 'NFSHomeDirectory', 'Password', 'PrimaryGroupID', 'UniqueID', 'UserShell'],
  number: ['PrimaryGroupID'],
} as const;

/** dscl prints a value with a space on a line of its own. */
const printed = (key: string, value: string): string =>
  value.includes(' ') ? `${key}:\n ${value}` : `${key}: ${value}`;

function readRow(path: string, record: DirectoryRecord, wanted: readonly string[]): Row {
  const known = wanted.filter((key) => record[key] !== undefined);
  const missing = wanted.filter((key) => record[key] === undefined);
  return {
    args: ['.', '-read', path, ...wanted],
    source: read,
    stdout: lines(...known.map((key) => printed(key, record[key] ?? ''))),
    ...(missing.length === 0 ? {} : { stderr: lines(...missing.map((key) => `No such key: ${key}`)) }),
  };
}

const listText = (records: Readonly<Record<string, DirectoryRecord>>, key: string): string =>
  lines(
    ...Object.entries(records)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, { [key]: value }]) => (value === undefined ? [] : [`${name.padEnd(23)} ${value}`])),
  );

function rows({ mac: { directory } }: View): readonly Row[] {
  const { users, groups } = directory;
  return [
    { args: ['.', '-list', '/Users', 'UniqueID'], source: listed, stdout: listText(users, 'UniqueID') },
    { args: ['.', '-list', '/Groups', 'PrimaryGroupID'], source: listed, stdout: listText(groups, 'PrimaryGroupID') },
    ...Object.entries(users).map(([name, record]) => readRow(`/Users/${name}`, record, keys.account)),
    ...Object.entries(users).map(([name, record]) => readRow(`/Users/${name}`, record, keys.number)),
    ...Object.entries(groups).map(([name, record]) => readRow(`/Groups/${name}`, record, keys.number)),
  ];
}

/** `dscl . -list`, `-read`, `-create` and `-delete` of accounts and groups in the local directory. */
export const dscl: TableTool = {
  kind: 'table',
  path: '/usr/bin/dscl',
  rows,
  writes: dsclWrites,
  patterns: [
    {
      match: [
        `'9:. -read /Users/'*' ${keys.account.join(' ')}'`,
        ...['Users', 'Groups'].map((folder) => `'4:. -read /${folder}/'*' ${keys.number.join(' ')}'`),
      ].join(' | '),
      body: `printf '%s\\n' '${notFound.trimEnd()}' >&2; exit 56`,
      source: published('the text and the exit of dscl for a record that is not there, in many public scripts'),
    },
  ],
  usage: {
    text: lines('dscl (v20.4)', 'usage: dscl [options] [<datasource> [<command>]]'),
    exitCode: 64,
    source: apple('dscl(1)'),
  },
};
