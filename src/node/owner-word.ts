import { ownAccounts } from '../model/account.ts';
import { pathWord, place, tool } from './paths/node-paths.ts';
import { accountHome, accountTemporary } from './paths/own-paths.ts';
import { quote } from './quote.ts';
import { sh } from './shell/scripts.generated.ts';

/** The user who called sudo, as a word of a script that runs as root. @see sudo(8), ENVIRONMENT: SUDO_USER */
const loginWord = '"${SUDO_USER:-root}"';

/** What `refuse-root.sh` needs. */
export const refusalValues = { launch_daemons: place.launchDaemons, own_accounts: ownAccounts.join(' ') };

/** The same for a text of TypeScript; nothing for the ssh user. */
export const refuseRoot = (user: string): string =>
  user === '' ? '' : `${sh.refuseRoot(refusalValues)}\nrefuse_root ${quote(user)}\n`;

/** The folders that an account may write, behind `own-folder.sh`; none for the ssh user, who has a home. */
export const accountFolders = (user: string): string =>
  user === ''
    ? ''
    : `[ ${quote(user)} = ${loginWord} ] || for x in ${pathWord(accountHome(user))} ${pathWord(accountTemporary(user))}; do
  must mkdir ${pathWord(tool.mkdir)} -p "$x"
  ownfolder "$x" ${quote(user)}
done
`;
