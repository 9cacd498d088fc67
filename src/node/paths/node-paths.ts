import type { PartsOf } from '../../model/lists.ts';
import type { NodePath, Word } from '../../model/probe.ts';
import { quote } from '../quote.ts';

/** Marks a path as a node path. Outside this table, no literal may start with a macOS folder. */
export const nodePath = (path: `/${string}`): NodePath => ({ kind: 'node-path', path });

/** A path below another one; `rest` has no leading slash. */
export const below = (folder: NodePath, rest: string): NodePath => nodePath(`${folder.path as `/${string}`}/${rest}`);

const programsIn = <Names extends string>(folder: `/${string}`, names: Names) =>
  Object.fromEntries(names.split(' ').map((name) => [name, nodePath(`${folder}/${name}`)])) as Record<
    PartsOf<Names, ' '>,
    NodePath
  >;

/** Tools of macOS by absolute path: over SSH, PATH is short, and a user's own PATH may contain other tools. */
export const tool = {
  ...programsIn('/bin', 'cat chmod cp date df kill launchctl ln ls mkdir mv ps rm rmdir sh sleep sync'),
  ...programsIn('/sbin', 'ifconfig sha256sum shutdown'),
  ...programsIn('/usr/bin', 'awk base64 cksum curl defaults ditto dscl env false fdesetup find hdiutil head id'),
  ...programsIn(
    '/usr/bin',
    'mdutil mkfifo mktemp perl pgrep plutil pmset powermetrics readlink sample shasum sntp stat',
  ),
  ...programsIn('/usr/bin', 'ssh sudo tail tar tmutil wc'),
  ...programsIn('/usr/sbin', 'chown ioclasscount ioreg ipconfig lsof netstat networksetup nvram scutil softwareupdate'),
  ...programsIn('/usr/sbin', 'sysctl visudo'),
  ibvDevices: nodePath('/usr/bin/ibv_devices'),
  ibvDevinfo: nodePath('/usr/bin/ibv_devinfo'),
  plistBuddy: nodePath('/usr/libexec/PlistBuddy'),
  rdmaCtl: nodePath('/usr/bin/rdma_ctl'),
  socketfilterfw: nodePath('/usr/libexec/ApplicationFirewall/socketfilterfw'),
  swVers: nodePath('/usr/bin/sw_vers'),
  xcodeSelect: nodePath('/usr/bin/xcode-select'),
  systemProfiler: nodePath('/usr/sbin/system_profiler'),
  vmStat: nodePath('/usr/bin/vm_stat'),
} as const;

/** The folders of macOS's programs, in a daemon's PATH order. @see launchd.plist(5) */
export const programFolders: readonly NodePath[] = [
  nodePath('/usr/bin'),
  nodePath('/bin'),
  nodePath('/usr/sbin'),
  nodePath('/sbin'),
];

/** Where people install CMake: Homebrew, Homebrew on Intel and CMake's own links, and its app. */
export const cmakeFolders: readonly NodePath[] = [
  nodePath('/opt/homebrew/bin'),
  nodePath('/usr/local/bin'),
  nodePath('/Applications/CMake.app/Contents/bin'),
];

export const place = {
  accounts: nodePath('/Library/Application Support/meshwright/accounts'),
  applicationSupport: nodePath('/Library/Application Support'),
  /** This Mac's values before the first change. */
  baseline: nodePath('/Library/Application Support/meshwright/baseline'),
  /** Per-account folders where uv builds a Python. */
  builds: nodePath('/opt/meshwright/builds'),
  dataVolume: nodePath('/System/Volumes/Data'),
  keeper: nodePath('/Library/Application Support/meshwright/keeper'),
  diagnosticReports: nodePath('/Library/Logs/DiagnosticReports'),
  /** The home of accounts without a login. */
  emptyHome: nodePath('/var/empty'),
  hold: nodePath('/Library/Application Support/meshwright/hold'),
  launchDaemons: nodePath('/Library/LaunchDaemons'),
  library: nodePath('/Library'),
  log: nodePath('/Library/Application Support/meshwright/log'),
  /** Preference domains have no `.plist`, as `defaults` expects them. */
  loginWindow: nodePath('/Library/Preferences/com.apple.loginwindow'),
  networkPreferences: nodePath('/Library/Preferences/SystemConfiguration/preferences.plist'),
  /** Published runtimes and models, and their staging folders. */
  opt: nodePath('/opt/meshwright'),
  optParent: nodePath('/opt'),
  ours: nodePath('/Library/Application Support/meshwright'),
  transaction: nodePath('/Library/Application Support/meshwright/transaction'),
  /** The sudo rule that enroll adds for the ssh user. */
  sudoersDropIn: nodePath('/etc/sudoers.d/meshwright'),
  sudoersFolder: nodePath('/etc/sudoers.d'),
  screenSharing: nodePath('/System/Library/LaunchDaemons/com.apple.screensharing.plist'),
  softwareUpdate: nodePath('/Library/Preferences/com.apple.SoftwareUpdate'),
  temporary: nodePath('/tmp'),
  timeMachine: nodePath('/Library/Preferences/com.apple.TimeMachine'),
  users: nodePath('/Users'),
} as const satisfies Record<string, NodePath>;

/** The path on the node, with the root prefix and unquoted. */
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

/** One word of a command line in a node script. */
export const scriptWord = (word: Word): string => (typeof word === 'string' ? plainOrQuoted(word) : pathWord(word));

export const scriptCommand = (words: readonly Word[]): string => words.map(scriptWord).join(' ');

/** Leaves words without special characters unquoted. */
const plainOrQuoted = (text: string): string => (/^[\w./@%+,:-]+$/.test(text) ? text : quote(text));

/** The first line of every node script. @throws Error if the prefix is neither empty nor absolute */
export function rootLine(rootPrefix: string): string {
  if (rootPrefix !== '' && !rootPrefix.startsWith('/')) throw new Error('a root prefix is empty or an absolute path');
  return `R=${quote(rootPrefix)}`;
}

/** The command line that runs a script in `/bin/sh`, byte for byte, whatever the user's login shell is. */
export const shellCommand = (script: string): string => `exec /bin/sh -c ${quote(script)}`;

/** The same for a script on standard input, which may be longer than a command line. */
export const shellInputCommand = 'exec /bin/sh -s';
