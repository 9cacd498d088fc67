import { ownAccounts } from '../model/account.ts';
import { pathWord, place, tool } from './paths/node-paths.ts';
import { accountHome, accountTemporary } from './paths/own-paths.ts';
import { quote } from './quote.ts';
import { sh } from './shell/scripts.generated.ts';

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

/** What `refuse-root.sh` needs. */
export const refusalValues = { launch_daemons: place.launchDaemons, own_accounts: ownAccounts.join(' ') };

/** The same for a text of TypeScript; nothing for the ssh user. */
export const refuseRoot = (user: string): string =>
  user === '' ? '' : `${sh.refuseRoot(refusalValues)}\nrefuse_root ${quote(user)}\n`;

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
