import type { NodePath, Word } from '../../model/probe.ts';
import { quote } from '../quote.ts';

/** Marks a path as one on a node. Outside this table, no literal may start with a macOS folder. */
export const nodePath = (path: `/${string}`): NodePath => ({ kind: 'node-path', path });

/** A path below another one; `rest` has no leading slash. */
export const below = (folder: NodePath, rest: string): NodePath => nodePath(`${folder.path as `/${string}`}/${rest}`);

/**
 * Tools of stock macOS by absolute path: over SSH a Mac's PATH is short, and a user's own PATH may contain other tools.
 */
export const tool = {
  awk: nodePath('/usr/bin/awk'),
  base64: nodePath('/usr/bin/base64'),
  cat: nodePath('/bin/cat'),
  chmod: nodePath('/bin/chmod'),
  chown: nodePath('/usr/sbin/chown'),
  cksum: nodePath('/usr/bin/cksum'),
  cp: nodePath('/bin/cp'),
  curl: nodePath('/usr/bin/curl'),
  date: nodePath('/bin/date'),
  defaults: nodePath('/usr/bin/defaults'),
  df: nodePath('/bin/df'),
  ditto: nodePath('/usr/bin/ditto'),
  dscl: nodePath('/usr/bin/dscl'),
  false: nodePath('/usr/bin/false'),
  fdesetup: nodePath('/usr/bin/fdesetup'),
  env: nodePath('/usr/bin/env'),
  find: nodePath('/usr/bin/find'),
  hdiutil: nodePath('/usr/bin/hdiutil'),
  head: nodePath('/usr/bin/head'),
  id: nodePath('/usr/bin/id'),
  ibvDevices: nodePath('/usr/bin/ibv_devices'),
  ibvDevinfo: nodePath('/usr/bin/ibv_devinfo'),
  ifconfig: nodePath('/sbin/ifconfig'),
  ioclasscount: nodePath('/usr/sbin/ioclasscount'),
  ioreg: nodePath('/usr/sbin/ioreg'),
  ipconfig: nodePath('/usr/sbin/ipconfig'),
  kill: nodePath('/bin/kill'),
  launchctl: nodePath('/bin/launchctl'),
  ln: nodePath('/bin/ln'),
  ls: nodePath('/bin/ls'),
  mdutil: nodePath('/usr/bin/mdutil'),
  mkdir: nodePath('/bin/mkdir'),
  mktemp: nodePath('/usr/bin/mktemp'),
  mv: nodePath('/bin/mv'),
  netstat: nodePath('/usr/sbin/netstat'),
  networksetup: nodePath('/usr/sbin/networksetup'),
  nvram: nodePath('/usr/sbin/nvram'),
  pgrep: nodePath('/usr/bin/pgrep'),
  plistBuddy: nodePath('/usr/libexec/PlistBuddy'),
  perl: nodePath('/usr/bin/perl'),
  plutil: nodePath('/usr/bin/plutil'),
  powermetrics: nodePath('/usr/bin/powermetrics'),
  pmset: nodePath('/usr/bin/pmset'),
  ps: nodePath('/bin/ps'),
  rdmaCtl: nodePath('/usr/bin/rdma_ctl'),
  readlink: nodePath('/usr/bin/readlink'),
  rm: nodePath('/bin/rm'),
  rmdir: nodePath('/bin/rmdir'),
  sample: nodePath('/usr/bin/sample'),
  sh: nodePath('/bin/sh'),
  scutil: nodePath('/usr/sbin/scutil'),
  shasum: nodePath('/usr/bin/shasum'),
  shutdown: nodePath('/sbin/shutdown'),
  sleep: nodePath('/bin/sleep'),
  sntp: nodePath('/usr/bin/sntp'),
  socketfilterfw: nodePath('/usr/libexec/ApplicationFirewall/socketfilterfw'),
  softwareupdate: nodePath('/usr/sbin/softwareupdate'),
  stat: nodePath('/usr/bin/stat'),
  sudo: nodePath('/usr/bin/sudo'),
  swVers: nodePath('/usr/bin/sw_vers'),
  sysctl: nodePath('/usr/sbin/sysctl'),
  systemProfiler: nodePath('/usr/sbin/system_profiler'),
  tail: nodePath('/usr/bin/tail'),
  tar: nodePath('/usr/bin/tar'),
  visudo: nodePath('/usr/sbin/visudo'),
  vmStat: nodePath('/usr/bin/vm_stat'),
  tmutil: nodePath('/usr/bin/tmutil'),
  wc: nodePath('/usr/bin/wc'),
} as const satisfies Record<string, NodePath>;

/** The folders of macOS's programs, in a daemon's PATH order. @see launchd.plist(5) */
export const programFolders: readonly NodePath[] = [
  nodePath('/usr/bin'),
  nodePath('/bin'),
  nodePath('/usr/sbin'),
  nodePath('/sbin'),
];

/** Folders and files that meshwright reads or writes on a Mac. */
export const place = {
  accounts: nodePath('/Library/Application Support/meshwright/accounts'),
  applicationSupport: nodePath('/Library/Application Support'),
  /** Values of this Mac before the first change. */
  baseline: nodePath('/Library/Application Support/meshwright/baseline'),
  /** Per-account folders where uv builds a Python. */
  builds: nodePath('/opt/meshwright/builds'),
  dataVolume: nodePath('/System/Volumes/Data'),
  keeper: nodePath('/Library/Application Support/meshwright/keeper'),
  diagnosticReports: nodePath('/Library/Logs/DiagnosticReports'),
  /** The home of accounts without a login. */
  emptyHome: nodePath('/var/empty'),
  /** Marks this node as on hold. */
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
  rollback: nodePath('/Library/Application Support/meshwright/rollback'),
  /** The sudo rule that enroll adds for the ssh user. */
  sudoersDropIn: nodePath('/etc/sudoers.d/meshwright'),
  sudoersFolder: nodePath('/etc/sudoers.d'),
  screenSharing: nodePath('/System/Library/LaunchDaemons/com.apple.screensharing.plist'),
  softwareUpdate: nodePath('/Library/Preferences/com.apple.SoftwareUpdate'),
  temporary: nodePath('/tmp'),
  timeMachine: nodePath('/Library/Preferences/com.apple.TimeMachine'),
} as const satisfies Record<string, NodePath>;

/** The path on the node: with the root prefix, unquoted. */
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

/**
 * The command line for exec that runs a script in `/bin/sh`, whatever the user's login shell is. The script reaches
 * `/bin/sh` byte for byte.
 */
export const shellCommand = (script: string): string => `exec /bin/sh -c ${quote(script)}`;
