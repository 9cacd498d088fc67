import { type SeedWords, seededUuid } from './seed.ts';

/** A record's attributes, each with a single value. */
export type DirectoryRecord = Readonly<Record<string, string>>;

/** A Mac's accounts and groups by name, as in its local directory. */
export interface Directory {
  readonly users: Readonly<Record<string, DirectoryRecord>>;
  readonly groups: Readonly<Record<string, DirectoryRecord>>;
}

const staff = '20';

/** Real Macs have more accounts, with names that start with `_`; two of those are simulated. */
const systemUsers = [
  { name: 'root', uid: '0', gid: '0', home: '/var/root', shell: '/bin/sh' },
  { name: 'daemon', uid: '1', gid: '1', home: '/var/root', shell: '/usr/bin/false' },
  { name: 'nobody', uid: '-2', gid: '-2', home: '/var/empty', shell: '/usr/bin/false' },
  { name: '_www', uid: '70', gid: '70', home: '/Library/WebServer', shell: '/usr/bin/false' },
  { name: '_sshd', uid: '75', gid: '75', home: '/var/empty', shell: '/usr/bin/false' },
] as const;

const systemGroups: readonly (readonly [name: string, gid: string])[] = [
  ['wheel', '0'],
  ['daemon', '1'],
  ['everyone', '12'],
  ['staff', staff],
  ['localaccounts', '61'],
  ['_www', '70'],
  ['_sshd', '75'],
  ['admin', '80'],
  ['nobody', '-2'],
];

/** A new record, as from `dscl . -create`. */
export const newRecord = (kind: keyof Directory, name: string, words: SeedWords): DirectoryRecord => ({
  GeneratedUID: seededUuid([...words, 'directory', kind, name]),
  RecordName: name,
});

/** The directory of a Mac with one account, an administrator. */
export function newDirectory(user: string, words: SeedWords): Directory {
  const person = { name: user, uid: '501', gid: staff, home: `/Users/${user}`, shell: '/bin/zsh' };
  const accounts = user === 'root' ? systemUsers : [...systemUsers, person];
  const users = accounts.map(({ name, uid, gid, home, shell }) => {
    const ids = { PrimaryGroupID: gid, UniqueID: uid, UserShell: shell };
    const password = name === user ? '********' : '*';
    return [name, { ...newRecord('users', name, words), NFSHomeDirectory: home, Password: password, ...ids }] as const;
  });
  const groups = systemGroups.map(([name, gid]) => {
    const members = name === 'admin' ? { GroupMembership: `root ${user}` } : {};
    return [name, { ...newRecord('groups', name, words), ...members, Password: '*', PrimaryGroupID: gid }] as const;
  });
  return { users: Object.fromEntries(users), groups: Object.fromEntries(groups) };
}

const groupName = ({ groups }: Directory, gid: string): string =>
  Object.entries(groups).find(([, { PrimaryGroupID }]) => PrimaryGroupID === gid)?.[0] ?? gid;

const groupsOf = (directory: Directory, user: string, gid: string): readonly string[] => [
  groupName(directory, gid),
  'everyone',
  'localaccounts',
  ...Object.entries(directory.groups).flatMap(([name, { GroupMembership = '' }]) =>
    GroupMembership.split(' ').includes(user) ? [name] : [],
  ),
];

/** The file with a node's accounts for its tools: lines `name uid gid group groups…`. */
export const accountsPath = '/.sim/accounts';

/** The complete accounts as text. An account is complete once it has both a user ID and a group ID. */
export const accountsText = (directory: Directory): string =>
  Object.entries(directory.users)
    .flatMap(([name, { UniqueID: uid, PrimaryGroupID: gid }]) =>
      uid === undefined || gid === undefined
        ? []
        : [`${name} ${uid} ${gid} ${groupsOf(directory, name, gid).join(' ')}\n`],
    )
    .join('');
