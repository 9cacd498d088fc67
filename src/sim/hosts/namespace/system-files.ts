import { dataFile, type NodeFile } from '../../model/node-files.ts';

/** The account of the ssh user, as macOS numbers the first one that is made on a Mac. */
export const userId = 501;
/** Its group: `staff`. */
export const groupId = 20;

const privilegeUser = 'sshd:*:75:75:sshd Privilege separation:/var/empty:/usr/bin/false';

/** sudo on a Mac keeps these of what the caller exported; everything else is gone. */
const kept = 'HOME LANG LC_ALL LC_CTYPE TZ TERM';

const sudoers = `Defaults env_reset, env_keep += "${kept}", !requiretty, !use_pty
Defaults secure_path = "/usr/bin:/bin:/usr/sbin:/sbin"
root ALL=(ALL) ALL
%admin ALL=(ALL) ALL
#includedir /private/etc/sudoers.d
`;

/** The password of the account, judged by its hash; a wrong one is refused without the pause of PAM. */
const pamSudo = 'auth required pam_unix.so nodelay\naccount required pam_permit.so\nsession required pam_permit.so\n';
const pamOther = 'auth required pam_deny.so\naccount required pam_permit.so\nsession required pam_permit.so\n';

/** Files that are the same on every node. */
export const systemFiles: readonly NodeFile[] = [
  dataFile('/private/etc/shells', '/bin/sh\n'),
  dataFile('/private/etc/nsswitch.conf', 'passwd: files\ngroup: files\nshadow: files\nsudoers: files\nhosts: files\n'),
  dataFile('/private/etc/pam.d/sudo', pamSudo),
  dataFile('/private/etc/pam.d/other', pamOther),
];

/**
 * Who is on one node: its own name, the ssh user with the hash of the password, the word of the model about sudo, and all
 * accounts of the model, as `accountsText` writes them.
 */
export interface NodeAccount {
  readonly name: string;
  readonly user: string;
  readonly sudo: string;
  readonly hash: string;
  readonly accounts: string;
}

/** Accounts of the model but those that every node has here: they log in nowhere. Numbers below zero do not exist on Linux. */
function otherAccounts(accounts: string, user: string) {
  const known = ['0', String(userId), '75'];
  const others = accounts
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([name = '', uid = '', gid = '', group = '']) =>
      name === user || known.includes(uid) || !/^\d+$/.test(uid) || !/^\d+$/.test(gid)
        ? []
        : [{ name, uid, gid, group }],
    );
  const groups = others.filter(({ gid }) => !['0', String(groupId), '75', '80'].includes(gid));
  return {
    users: others.map(({ name, uid, gid }) => `${name}:*:${uid}:${gid}:${name}:/var/empty:/usr/bin/false\n`).join(''),
    groups: groups.map(({ gid, group }) => `${group}:*:${gid}:\n`).join(''),
  };
}

/** Accounts of one node, its own name, and what sudo does there beside the rules in its folder. */
export function accountFiles({ name, user, sudo, hash, accounts }: NodeAccount): readonly NodeFile[] {
  const admins = sudo === 'denied' ? '' : user;
  const others = otherAccounts(accounts, user);
  return [
    dataFile('/private/etc/hosts', `127.0.0.1 localhost ${name}\n`),
    dataFile(
      '/private/etc/passwd',
      `root:*:0:0:System Administrator:/var/root:/bin/sh\n${privilegeUser}\n${user}:x:${userId}:${groupId}:${user}:/Users/${user}:/bin/sh\n${others.users}`,
    ),
    dataFile('/private/etc/shadow', `root:*:1:0:99999:7:::\nsshd:*:1:0:99999:7:::\n${user}:${hash}:1:0:99999:7:::\n`),
    dataFile(
      '/private/etc/group',
      `wheel:*:0:root\nstaff:*:${groupId}:root\nsshd:*:75:\nadmin:*:80:${admins}\n${others.groups}`,
    ),
    dataFile('/private/etc/sudoers', sudoers),
  ];
}
