import type { MacState } from './mac.ts';
import { dataFile, type NodeFile } from './node-files.ts';
import { type PlistValue, plistText } from './plist.ts';

/** What macOS does about updates of its own. */
export const softwareUpdateDomain = '/Library/Preferences/com.apple.SoftwareUpdate';

/** Backups. */
export const timeMachineDomain = '/Library/Preferences/com.apple.TimeMachine';

/** What happens at the login window. */
export const loginWindowDomain = '/Library/Preferences/com.apple.loginwindow';

const autoLoginUser = 'autoLoginUser';

/** The file of every preference domain of a Mac. */
export const domainFiles = ({ domains }: MacState): readonly NodeFile[] =>
  Object.entries(domains).map(([path, dict]) => dataFile(`${path}.plist`, plistText(dict)));

/** Whom a Mac logs in by itself. */
export const automaticLoginOf = ({ domains }: MacState): PlistValue | undefined =>
  domains[loginWindowDomain]?.[autoLoginUser];

/** The Mac that logs this user in by itself, or nobody. macOS does not offer it while FileVault is on. */
export function withAutomaticLogin(mac: MacState, user: string | undefined): MacState {
  const wanted = mac.isFileVaultOn ? undefined : user;
  if (automaticLoginOf(mac) === wanted) return mac;
  const { [autoLoginUser]: _, ...others } = mac.domains[loginWindowDomain] ?? {};
  const dict = wanted === undefined ? others : { ...others, [autoLoginUser]: wanted };
  return { ...mac, domains: { ...mac.domains, [loginWindowDomain]: dict } };
}
