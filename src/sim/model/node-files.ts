import type { MacState } from './fleet.ts';
import type { PlistValue } from './plist.ts';
/** One file on a simulated node. The host writes it below the node's root, through a temporary file and a rename. */
export interface NodeFile {
  /** Path on the Mac, such as `/usr/bin/sw_vers`. Files that only the simulator uses are below `/.sim`. */
  readonly path: string;
  readonly text: string;
  readonly isExecutable: boolean;
}

export const dataFile = (path: string, text: string): NodeFile => ({ path, text, isExecutable: false });

export const toolFile = (path: string, text: string): NodeFile => ({ path, text, isExecutable: true });

export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const perlQuote = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

/** Folder of the host's programs on a Mac in namespaces. It is in no script of the product and no PATH. */
export const programsPath = '/.sim/programs';

/** The Node.js that runs this program, in the folder above. */
export const nodeProgramPath = `${programsPath}/node`;

export const softwareUpdateDomain = '/Library/Preferences/com.apple.SoftwareUpdate';
export const timeMachineDomain = '/Library/Preferences/com.apple.TimeMachine';
export const loginWindowDomain = '/Library/Preferences/com.apple.loginwindow';

export const automaticLoginOf = ({ domains }: MacState): PlistValue | undefined =>
  domains[loginWindowDomain]?.['autoLoginUser'];
