import type { MacState } from './mac.ts';
import { dataFile, type NodeFile } from './node-files.ts';
import { plistText } from './plist.ts';

/** What macOS does about updates of its own. */
export const softwareUpdateDomain = '/Library/Preferences/com.apple.SoftwareUpdate';

/** What happens at the login window. */
export const loginWindowDomain = '/Library/Preferences/com.apple.loginwindow';

/** The file of every preference domain of a Mac. */
export const domainFiles = ({ domains }: MacState): readonly NodeFile[] =>
  Object.entries(domains).map(([path, dict]) => dataFile(`${path}.plist`, plistText(dict)));
