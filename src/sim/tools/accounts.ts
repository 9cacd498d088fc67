import { type DirectoryRecord, newRecord } from '../model/directory.ts';
import { from, lines, type Row, row, type Tool, type ToolChange, type ToolView, usage } from './tool.ts';

/** dscl's error for a missing record, with exit code 56. */
const notFound = lines('<dscl_cmd> DS Error: -14136 (eDSRecordNotFound)');

/** The path of a record in the directory; undefined for an invalid path. */
function placeOf(path = ''): { readonly kind: 'users' | 'groups'; readonly name: string } | undefined {
  const [, folder, name] = /^\/(Users|Groups)\/([A-Za-z_][A-Za-z0-9_.-]{0,30})$/.exec(path) ?? [];
  return name === undefined ? undefined : { kind: folder === 'Users' ? 'users' : 'groups', name };
}

const refused = (what: string) => ({
  stderr: lines(`${what} status: eDSPermissionError`, '<dscl_cmd> DS Error: -14120 (eDSPermissionError)'),
  exitCode: 40,
});

/** The record with the value that `-create` adds; undefined if an existing value would change. */
function grown(record: DirectoryRecord, [key, value]: readonly string[]): DirectoryRecord | undefined {
  if (key === undefined || value === undefined || record[key] === value) return record;
  return record[key] === undefined ? { ...record, [key]: value } : undefined;
}

const createRecord: ToolChange = ({ mac, isRoot, words: [path, ...more] }) => {
  const place = placeOf(path);
  if (place === undefined) return undefined;
  if (!isRoot) return refused('create');
  const { kind, name } = place;
  const { [name]: record, ...others } = mac.directory[kind];
  const before = record ?? newRecord(kind, name, [mac.serial]);
  const mayChange = mac.ailments.hasFullDiskAccess;
  const after = grown(before, more) ?? (mayChange ? { ...before, [more[0] ?? '']: more[1] ?? '' } : undefined);
  if (after === undefined) return refused('attribute');
  return { after: { directory: { ...mac.directory, [kind]: { ...others, [name]: after } } } };
};

const deleteRecord: ToolChange = ({ mac, isRoot, words: [path] }) => {
  const place = placeOf(path);
  if (place === undefined) return undefined;
  const { [place.name]: record, ...others } = mac.directory[place.kind];
  if (record === undefined) return { stderr: notFound, exitCode: 56 };
  if (!isRoot || !mac.ailments.hasFullDiskAccess) return refused('delete');
  return { after: { directory: { ...mac.directory, [place.kind]: others } } };
};

const created = from.unconfirmed(
  'over SSH, root can create a record and add missing keys; to change a key or delete a record, root needs Full Disk Access',
);
const deleted = from.published('"-14120 (eDSPermissionError)" of dscl without root, and without Full Disk Access');

const listed = from.apple('dscl(1): list path [key] prints the name of each record, then the value');
const read = from.published(
  'issue 33 of DeterminateSystems/nix-installer: a whole `dscl . -read` of an account, keys sorted',
);

/** The supported keys of accounts and groups; other lists of keys are unknown. */
const keys = {
  account: ['GeneratedUID', 'NFSHomeDirectory', 'Password', 'PrimaryGroupID', 'UniqueID', 'UserShell'],
  number: ['PrimaryGroupID'],
} as const;

/** dscl prints a value that contains a space on a separate line. */
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

function rows({ mac: { directory } }: ToolView): readonly Row[] {
  const { users, groups } = directory;
  return [
    row(['.', '-list', '/Users', 'UniqueID'], listed, listText(users, 'UniqueID')),
    row(['.', '-list', '/Groups', 'PrimaryGroupID'], listed, listText(groups, 'PrimaryGroupID')),
    ...Object.entries(users).map(([name, record]) => readRow(`/Users/${name}`, record, keys.account)),
    ...Object.entries(users).map(([name, record]) => readRow(`/Users/${name}`, record, keys.number)),
    ...Object.entries(groups).map(([name, record]) => readRow(`/Groups/${name}`, record, keys.number)),
  ];
}

/** `dscl . -list`, `-read`, `-create` and `-delete` for accounts and groups in the local directory. */
export const dscl: Tool = {
  path: '/usr/bin/dscl',
  rows,
  writes: [
    { form: '. -create /Users/NAME|/Groups/NAME', source: created, change: createRecord },
    { form: '. -create /Users/NAME|/Groups/NAME KEY VALUE', source: created, change: createRecord },
    { form: '. -delete /Users/NAME|/Groups/NAME', source: deleted, change: deleteRecord },
  ],
  patterns: [
    {
      match: [
        `'9:. -read /Users/'*' ${keys.account.join(' ')}'`,
        ...['Users', 'Groups'].map((folder) => `'4:. -read /${folder}/'*' ${keys.number.join(' ')}'`),
      ].join(' | '),
      body: `printf '%s\\n' '${notFound.trimEnd()}' >&2; exit 56`,
      source: from.published('text and exit code of dscl for a missing record, in many public scripts'),
    },
  ],
  usage: usage(64, from.apple('dscl(1)'), 'dscl (v20.4)', 'usage: dscl [options] [<datasource> [<command>]]'),
};
