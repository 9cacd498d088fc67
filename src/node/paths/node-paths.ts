import type { NodePath, Word } from '../../model/probe.ts';
import { quote } from '../quote.ts';

/** Brands a path as one on a node. Outside of this table no literal may begin with a folder of macOS. */
export const nodePath = (path: `/${string}`): NodePath => ({ kind: 'node-path', path });

/** A path below another one; `rest` has no leading slash. */
export const below = (folder: NodePath, rest: string): NodePath => nodePath(`${folder.path as `/${string}`}/${rest}`);

/** The words of a text. */
type WordsOf<T extends string> = T extends `${infer First} ${infer Others}` ? First | WordsOf<Others> : T;

/** Tools of one folder by their names, which stand in one text. */
const toolsIn = <Names extends string>(folder: `/${string}`, names: Names) =>
  Object.fromEntries(names.split(' ').map((name) => [name, nodePath(`${folder}/${name}`)])) as Readonly<
    Record<WordsOf<Names>, NodePath>
  >;

/** Tools of stock macOS, by absolute path: over SSH a Mac's PATH is short, and a user's own may hold other tools. */
export const tool = {
  ...toolsIn('/bin', 'cat chmod cp date df kill launchctl ln ls mkdir mv ps rm rmdir sh sleep'),
  ...toolsIn('/sbin', 'ifconfig shutdown'),
  ...toolsIn('/usr/bin', 'awk base64 cksum curl defaults ditto dscl env false fdesetup find hdiutil head id mdutil'),
  ...toolsIn('/usr/bin', 'mktemp perl pgrep plutil pmset powermetrics readlink sample shasum sntp stat sudo tail'),
  ...toolsIn('/usr/bin', 'tar tmutil wc'),
  ...toolsIn('/usr/sbin', 'chown ioclasscount ioreg ipconfig netstat networksetup nvram scutil softwareupdate'),
  ...toolsIn('/usr/sbin', 'sysctl visudo'),
  ibvDevices: nodePath('/usr/bin/ibv_devices'),
  ibvDevinfo: nodePath('/usr/bin/ibv_devinfo'),
  plistBuddy: nodePath('/usr/libexec/PlistBuddy'),
  rdmaCtl: nodePath('/usr/bin/rdma_ctl'),
  swVers: nodePath('/usr/bin/sw_vers'),
  systemProfiler: nodePath('/usr/sbin/system_profiler'),
  vmStat: nodePath('/usr/bin/vm_stat'),
  socketfilterfw: nodePath('/usr/libexec/ApplicationFirewall/socketfilterfw'),
} as const satisfies Record<string, NodePath>;

/** Where the programs of macOS lie, as PATH has them for a daemon. @see launchd.plist(5) */
export const programFolders: readonly NodePath[] = [
  nodePath('/usr/bin'),
  nodePath('/bin'),
  nodePath('/usr/sbin'),
  nodePath('/sbin'),
];

/** Folders and files of a Mac that meshwright reads or keeps. */
export const place = {
  accounts: nodePath('/Library/Application Support/meshwright/accounts'),
  applicationSupport: nodePath('/Library/Application Support'),
  /** Values of this Mac as they were before the first change. */
  baseline: nodePath('/Library/Application Support/meshwright/baseline'),
  /** Folders of an account in which uv makes a Python. */
  builds: nodePath('/opt/meshwright/builds'),
  dataVolume: nodePath('/System/Volumes/Data'),
  keeper: nodePath('/Library/Application Support/meshwright/keeper'),
  diagnosticReports: nodePath('/Library/Logs/DiagnosticReports'),
  /** The home of accounts without a login. */
  emptyHome: nodePath('/var/empty'),
  /** That this node is to be left alone. */
  hold: nodePath('/Library/Application Support/meshwright/hold'),
  launchDaemons: nodePath('/Library/LaunchDaemons'),
  library: nodePath('/Library'),
  log: nodePath('/Library/Application Support/meshwright/log'),
  /** Preference domains are named as `defaults` wants them: without `.plist`. */
  loginWindow: nodePath('/Library/Preferences/com.apple.loginwindow'),
  networkPreferences: nodePath('/Library/Preferences/SystemConfiguration/preferences.plist'),
  /** Published runtimes and models, and the staging folders that they come from. */
  opt: nodePath('/opt/meshwright'),
  optParent: nodePath('/opt'),
  ours: nodePath('/Library/Application Support/meshwright'),
  rollback: nodePath('/Library/Application Support/meshwright/rollback'),
  /** What enroll allows the ssh user to do without a password. */
  sudoersDropIn: nodePath('/etc/sudoers.d/meshwright'),
  sudoersFolder: nodePath('/etc/sudoers.d'),
  screenSharing: nodePath('/System/Library/LaunchDaemons/com.apple.screensharing.plist'),
  softwareUpdate: nodePath('/Library/Preferences/com.apple.SoftwareUpdate'),
  temporary: nodePath('/tmp'),
  timeMachine: nodePath('/Library/Preferences/com.apple.TimeMachine'),
} as const satisfies Record<string, NodePath>;

/** Where dscl has the accounts of the local directory: these are no files. @see dscl(1) */
export const directoryUsers = '/Users';

/** The same for groups. */
export const directoryGroups = '/Groups';

/** The path as bytes on the node: prefix before it, nothing quoted. */
export const renderPath = (path: NodePath, rootPrefix: string): string => rootPrefix + path.path;

/**
 * The path as one word of a node script, whose first line sets `R`.
 *
 * @example
 * pathWord(tool.swVers) // "$R/usr/bin/sw_vers"
 */
export function pathWord(path: NodePath): string {
  const isPlain = /^[\w ./@%+,:-]+$/.test(path.path);
  return isPlain ? `"$R${path.path}"` : `"$R"${quote(path.path)}`;
}

/** One word of a command line inside a node script. */
export const scriptWord = (word: Word): string => (typeof word === 'string' ? plainOrQuoted(word) : pathWord(word));

/** A whole command line inside a node script. */
export const scriptCommand = (words: readonly Word[]): string => words.map(scriptWord).join(' ');

/** Words that no shell reads as anything else stay readable. */
const plainOrQuoted = (text: string): string => (/^[\w./@%+,:-]+$/.test(text) ? text : quote(text));

/** The first line of every node script. @throws Error when the prefix is neither empty nor absolute. */
export function rootLine(rootPrefix: string): string {
  if (rootPrefix !== '' && !rootPrefix.startsWith('/')) throw new Error('a root prefix is empty or an absolute path');
  return `R=${quote(rootPrefix)}`;
}

/**
 * The command line for an exec request that runs a script in `/bin/sh`, whatever the login shell of the user is.
 * The script itself reaches the shell byte for byte.
 */
export const shellCommand = (script: string): string => `exec /bin/sh -c ${quote(script)}`;
