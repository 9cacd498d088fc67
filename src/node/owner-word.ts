import { ownAccounts } from '../model/account.ts';
import { place } from './paths/node-paths.ts';

/** What `refuse-root.sh` needs. */
export const refusalValues = { launch_daemons: place.launchDaemons, own_accounts: ownAccounts.join(' ') };
