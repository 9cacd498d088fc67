import type { MacState } from './fleet.ts';
import type { PlistValue } from './plist.ts';
/** One file of a simulated node. The host writes it below the node's root, by a temporary name and a rename. */
export interface NodeFile {
  /** As a Mac knows it, such as `/usr/bin/sw_vers`; what only the simulator reads lies below `/.sim`. */
  readonly path: string;
  readonly text: string;
  readonly isExecutable: boolean;
}

/** A file that is only read. */
export const dataFile = (path: string, text: string): NodeFile => ({ path, text, isExecutable: false });

/** A file that is run. */
export const toolFile = (path: string, text: string): NodeFile => ({ path, text, isExecutable: true });

/** Where programs of this machine lie on a Mac in namespaces; no script of the product can name it, and no PATH leads there. */
export const programsPath = '/.sim/programs';

/** The Node that runs this program, there. */
export const nodeProgramPath = `${programsPath}/node`;

/** What macOS does about updates of its own. */
export const softwareUpdateDomain = '/Library/Preferences/com.apple.SoftwareUpdate';

/** Backups. */
export const timeMachineDomain = '/Library/Preferences/com.apple.TimeMachine';

/** What happens at the login window. */
export const loginWindowDomain = '/Library/Preferences/com.apple.loginwindow';

/** Whom a Mac logs in by itself. */
export const automaticLoginOf = ({ domains }: MacState): PlistValue | undefined =>
  domains[loginWindowDomain]?.['autoLoginUser'];
