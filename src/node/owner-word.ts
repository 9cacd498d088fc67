import { ownAccounts } from '../model/account.ts';
import { place } from './paths/node-paths.ts';

/** The values for `refuse-root.sh`. */
export const refusalValues = { launch_daemons: place.launchDaemons, own_accounts: ownAccounts.join(' ') };
