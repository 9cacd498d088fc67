import { ownAccounts } from '../model/account.ts';
import { accountHome, accountTemporary } from './paths/account-paths.ts';
import { pathWord, tool } from './paths/node-paths.ts';
import { daemonFileFunctions } from './probes/daemon-files.ts';
import { quote } from './quote.ts';

/** The user who called sudo, as a word of a script that runs as root. @see sudo(8), ENVIRONMENT: SUDO_USER */
const loginWord = '"${SUDO_USER:-root}"';

/** An account as a word of a script that runs as root; empty is the ssh user, who called sudo. */
export const ownerWord = (user: string): string =>
  // Set by sudo itself; absent only where root has logged in.
  user === '' ? loginWord : quote(user);

/**
 * `ownlog FILE` gives the log of a service of this account to the ssh user, who reads it without root. Only the account
 * can write it besides: by its primary group, which has no other member.
 */
export const ownLogFunction = (user: string): string => `ownlog() {
  true >>"$1" || failed write 'the log could not be made'
  if [ ${ownerWord(user)} = ${loginWord} ]; then
    must chown ${pathWord(tool.chown)} ${loginWord} "$1"
    must chmod ${pathWord(tool.chmod)} 600 "$1"
  else
    x=$(${pathWord(tool.id)} -g ${ownerWord(user)}) || failed no-account 'there is no account ${user}'
    must chown ${pathWord(tool.chown)} ${loginWord}:"$x" "$1"
    must chmod ${pathWord(tool.chmod)} 660 "$1"
  fi
}`;

const missing = (user: string): string =>
  `there is no account ${user}${ownAccounts.includes(user) ? ': meshwright apply makes it' : ''}`;

/**
 * Fails before anything starts as an account that can become root: root itself, an administrator, an account with a sudo
 * rule, or one that may write what launchd runs as root. Only the sentence that there is no rule lets it pass. The ssh user
 * is not checked: then the file says so.
 *
 * @see sudo(8): `-l -U` of root lists the rules of another account. sudo 1.9.13 (seen on Linux) says `User NAME is not
 * allowed to run sudo on HOST.` with exit 0, and so does its newest source (display.c)
 */
export const refuseRoot = (user: string): string =>
  user === ''
    ? ''
    : `${daemonFileFunctions}in_one_line() { printf '%s\\n' "$1" | ${pathWord(tool.awk)} '{ $1 = $1; printf "%s%s", s, $0; s = " " }'; }
[ ${ownerWord(user)} = ${loginWord} ] || {
  uid=$(${pathWord(tool.id)} -u ${ownerWord(user)} 2>/dev/null) || failed no-account '${missing(user)}'
  groups=$(${pathWord(tool.id)} -Gn ${ownerWord(user)} 2>/dev/null) || failed no-account '${missing(user)}'
  case "$uid: $groups " in (0:* | *' admin '* | *' wheel '*) failed can-become-root '${user} is an administrator of this Mac' ;; esac
  x=$(${pathWord(tool.sudo)} -l -n -U ${ownerWord(user)} 2>&1)
  case $x in (*' is not allowed to run sudo '*) ;; (*) failed can-become-root "sudo -l -U ${user}: $(in_one_line "$x")" ;; esac
  x=$(writable_daemon_file ${ownerWord(user)} "$uid" "$groups") || {
    x=$(writable_daemon_file ${ownerWord(user)} "$uid" "$groups" 2>&1 >/dev/null)
    failed daemons-unread "cannot read what launchd runs as root: $(in_one_line "$x")"
  }
  [ -z "$x" ] || failed can-become-root "${user} may write what launchd runs as root: $(in_one_line "$x")"
}
`;

/** The folders that an account may write; none for the ssh user, who has a home. */
export const accountFolders = (user: string): string =>
  user === ''
    ? ''
    : `[ ${ownerWord(user)} = ${loginWord} ] || for x in ${pathWord(accountHome(user))} ${pathWord(accountTemporary(user))}; do
  must mkdir ${pathWord(tool.mkdir)} -p "$x"
  must chown ${pathWord(tool.chown)} ${ownerWord(user)} "$x"
  must chmod ${pathWord(tool.chmod)} 700 "$x"
done
`;
