import { type Directory, type DirectoryRecord, newRecord } from '../../model/directory.ts';
import { withMac } from '../../model/fleet.ts';
import { published, unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

const refusal = published('"-14120 (eDSPermissionError)" of dscl without root, and without Full Disk Access');

const created = unconfirmed(
  'root may make a record and give it keys that it lacks over ssh; to change a key or to delete a record it needs Full Disk Access',
);

const forms: readonly WriteForm[] = [
  { form: '. -create /Users|/Groups/NAME', match: "'3:. -create /'*", source: created },
  { form: '. -create /Users|/Groups/NAME KEY VALUE', match: "'5:. -create /'*", source: created },
  { form: '. -delete /Users|/Groups/NAME', match: "'3:. -delete /'*", source: refusal },
];

/** What dscl says of a record that is not there; its exit is 56. */
export const notFound = lines('<dscl_cmd> DS Error: -14136 (eDSRecordNotFound)');

const kinds = { Users: 'users', Groups: 'groups' } as const;

const isKind = (word: string): word is keyof typeof kinds => Object.hasOwn(kinds, word);

const withDirectory = ({ fleet, mac }: View, directory: Directory): WriteResult => ({
  fleet: withMac(fleet, mac.name, (one) => ({ ...one, directory })),
});

const refused = ({ fleet }: View, what: string): WriteResult => ({
  fleet,
  stderr: lines(`${what} status: eDSPermissionError`, '<dscl_cmd> DS Error: -14120 (eDSPermissionError)'),
  exitCode: 40,
});

/** The record with what `-create` adds; undefined where that would change it. */
function grown(record: DirectoryRecord, [key, value]: readonly string[]): DirectoryRecord | undefined {
  if (key === undefined || value === undefined || record[key] === value) return record;
  return record[key] === undefined ? { ...record, [key]: value } : undefined;
}

function write(view: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const { fleet, mac } = view;
  const [, verb, path = '', ...more] = args;
  const [, folder = '', name = '', ...deeper] = path.split('/');
  if (!isKind(folder) || !/^[A-Za-z_][A-Za-z0-9_.-]{0,30}$/.test(name) || deeper.length > 0) return undefined;
  const kind = kinds[folder];
  const { [name]: record, ...others } = mac.directory[kind];
  const mayChange = mac.ailments.hasFullDiskAccess;
  if (verb === '-delete') {
    if (record === undefined) return { fleet, stderr: notFound, exitCode: 56 };
    if (!isRoot || !mayChange) return refused(view, 'delete');
    return withDirectory(view, { ...mac.directory, [kind]: others });
  }
  if (!isRoot) return refused(view, 'create');
  const before = record ?? newRecord(kind, name, [mac.serial]);
  const after = grown(before, more) ?? (mayChange ? { ...before, [more[0] ?? '']: more[1] ?? '' } : undefined);
  if (after === undefined) return refused(view, 'attribute');
  return withDirectory(view, { ...mac.directory, [kind]: { ...others, [name]: after } });
}

/** `dscl . -create` and `-delete`. */
export const dsclWrites: Writes = { forms, write };
