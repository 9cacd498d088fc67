/** A Mac whose tools store their changes, so that every example of a node script does all of its work. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { keeperPlist } from '../../../../src/node/paths/keeper-files.ts';
import { tool } from '../../../../src/node/paths/node-paths.ts';
import {
  closedFile,
  currentLink,
  gatewayPlist,
  gatewayStatusStart,
  placementFolder,
  rankLog,
  serviceFile,
  stagedFile,
  treeFolder,
  verifiedMark,
} from '../../../../src/node/paths/own-paths.ts';
import type { ScriptResult } from '../../../../src/node/root-script.ts';
import { accountTool, directoryTool, rulesTool } from './directory-tool.ts';
import { type MacRoot, makeMacRoot, ours } from './mac-root.ts';
import { vmStat } from './rank-root.ts';
import { exampleDigest, exampleModel, exampleRuntime } from './script-examples.ts';
import type { Shell } from './shells.ts';

/** The tools by path. Their state is in files below `$s`. */
const tools: Readonly<Record<string, string>> = {
  'bin/date': "printf '1795250000\\n'",
  'bin/sleep': 'exit 0',
  'bin/ps': "case $* in (*lstart*) printf 'Fri Nov 20 08:00:00 2026\\n' ;; esac",
  'usr/bin/vm_stat': vmStat,
  'usr/bin/sntp': 'exit 0',
  'usr/bin/fdesetup': 'case $1 in (supportsauthrestart) echo true ;; (*) while read -r x; do :; done ;; esac',
  'usr/sbin/shutdown': 'exit 0',
  'usr/bin/curl': `printf '%s' '${gatewayStatusStart}'`,
  'bin/launchctl': `l=\${2##*/}
case $1 in
(print)
  [ -e "$s/loaded.$l" ] || { printf 'Could not find service "%s" in domain for system\\n' "$l" >&2; exit 113; }
  printf '%s = {\\n' "$2"
  if [ -s "$s/first.$l" ]; then printf '\\tstate = running\\n\\tpid = 7\\n}\\n'; : >"$s/first.$l"
  elif [ -s "$s/loaded.$l" ]; then printf '\\tstate = running\\n\\tpid = %s\\n}\\n' "$(/bin/cat "$s/loaded.$l")"
  else printf '\\tstate = not running\\n\\truns = 1\\n\\tlast exit code = 0\\n}\\n'; fi ;;
(print-disabled) printf 'disabled services = {\\n'; /bin/cat "$s/overrides" 2>/dev/null; printf '}\\n' ;;
(enable | disable) { /bin/grep -v "$l" "$s/overrides"; printf '\\t"%s" => %sd\\n' "$l" "$1"; } >"$s/new" 2>/dev/null; /bin/mv "$s/new" "$s/overrides" ;;
(bootstrap) case $3 in (*/check/*) /bin/sh "\${3%/*}/program" "$R" "$(/bin/sed -n '/<array>/,/<.array>/s|.*<string>\\(.*\\)</string>|\\1|p' "$3" | /usr/bin/tail -n 1)" >"\${3%/*}/answers" 2>&1 ;; esac; l=\${3##*/}; l=\${l%.plist}; case $l in (*gateway*) printf 4243 ;; esac >"$s/loaded.$l"; printf 1 >"$s/first.$l" ;;
(bootout) /bin/rm "$s/loaded.$l" ;;
(kickstart) printf 4242 >"$s/loaded.$l" ;;
esac`,
  'usr/sbin/networksetup': `case $1 in
(-listallnetworkservices) printf 'An asterisk (*) denotes that a network service is disabled.\\n'
  while read -r n; do [ -e "$s/on.$n" ] || printf '*'; printf '%s\\n' "$n"; done <"$s/services" ;;
(-listnetworkserviceorder) k=0
  while read -r n; do k=$((k + 1)); printf '(%s) %s\\n(Hardware Port: x, Device: %s)\\n\\n' "$k" "$n" "$(/bin/cat "$s/device.$n")"; done <"$s/services" ;;
(-createnetworkservice) printf '%s\\n' "$2" >>"$s/services"; printf 'DHCP Configuration\\n' >"$s/info.$2"; printf '%s' "$3" >"$s/on.$2" ;;
(-removenetworkservice) /bin/grep -vx "$2" "$s/services" >"$s/new"; /bin/mv "$s/new" "$s/services" ;;
(-getnetworkserviceenabled) if [ -e "$s/on.$2" ]; then printf 'Enabled\\n'; else printf 'Disabled\\n'; fi ;;
(-setnetworkserviceenabled) if [ "$3" = on ]; then : >"$s/on.$2"; else /bin/rm "$s/on.$2"; fi ;;
(-getinfo) /bin/cat "$s/info.$2" ;;
(-setmanual) printf 'Manual Configuration\\nIP address: %s\\nSubnet mask: %s\\nRouter: %s\\n' "$3" "$4" "$5" >"$s/info.$2" ;;
(-setdhcp) printf 'DHCP Configuration\\n' >"$s/info.$2" ;;
(-ordernetworkservices) shift; printf '%s\\n' "$@" >"$s/services" ;;
esac`,
  'sbin/ifconfig': `i="$s/if.$1"
case $2 in
(create) printf 'flags=8802<BROADCAST> mtu 1500\\n' >"$i" ;;
(*) [ -e "$i" ] || { printf 'interface %s does not exist\\n' "$1" >&2; exit 1; } ;;
esac
case $2 in
('') /bin/cat "$i" ;;
(destroy) /bin/rm "$i" ;;
(addm) printf '\\tmember: %s flags=3\\n' "$3" >>"$i" ;;
(up) printf '\\tflags=<UP,>\\n' >>"$i" ;;
(inet) case $4 in (-alias) : >"$i" ;; (*) printf '\\tinet %s netmask %s\\n' "$3" "$5" >>"$i" ;; esac ;;
esac`,
  'usr/libexec/PlistBuddy': `case $2 in (Delete*) /bin/rm "$s/preference" ;; (*) [ -e "$s/preference" ] ;; esac`,
  'usr/bin/plutil': ': >"$s/preference"',
  'usr/bin/pmset': `case $1 in
(-g) printf 'Battery Power:\\n sleep 0\\nAC Power:\\n sleep %s\\n autorestart %s\\n' "$(/bin/cat "$s/sleep")" "$(/bin/cat "$s/autorestart")" ;;
(*) shift; while [ $# -gt 0 ]; do printf '%s\\n' "$2" >"$s/$1"; shift 2; done ;;
esac`,
  'usr/bin/defaults': `case $1 in
(read) /bin/cat "$s/$3" 2>/dev/null || { printf 'The domain/default pair does not exist\\n' >&2; exit 1; } ;;
(write) printf '0\\n' >"$s/$3" ;;
(delete) /bin/rm "$s/$3" ;;
esac`,
  'usr/bin/tmutil': 'case $1 in (enable) x=1 ;; (*) x=0 ;; esac; printf "%s\\n" "$x" >"$s/AutoBackup"',
  'usr/sbin/scutil': `case $1 in
(--get) /bin/cat "$s/$2" 2>/dev/null || { printf '%s: not set\\n' "$2" >&2; exit 1; } ;;
(--set) printf '%s\\n' "$3" >"$s/$2" ;;
esac`,
  'usr/bin/sw_vers': "printf '25E246\\n'",
  'usr/bin/pgrep': 'exit 1',
  'usr/sbin/ioclasscount': `printf 'AppleThunderboltRDMAProtectionDomain = 0, AppleThunderboltRDMAQueuePair = 0\\n'`,
  'usr/bin/ibv_devices': `printf '    device          \\t   node GUID\\n    ------          \\t----\\n    rdma_en2\\t0\\n'`,
  'usr/bin/ibv_devinfo': `printf 'hca_id:\\trdma_en2\\n\\n'`,
  'opt/llama-server': `printf 'Available devices:\\n  MTL0: Apple M3 Ultra (98304 MiB, 98304 MiB free)\\n'`,
  'usr/bin/dscl': directoryTool('$s'),
  'usr/bin/id': accountTool('$s'),
  'usr/bin/sudo': rulesTool('$s'),
  'usr/bin/mdutil': `case $* in
(*-s) printf '/:\\n\\tIndexing %s\\n' "$(/bin/cat "$s/index")" ;;
(*off*) printf 'disabled.\\n' >"$s/index" ;;
(*) printf 'enabled.\\n' >"$s/index" ;;
esac`,
  [tool.socketfilterfw.path.slice(1)]: `case $* in
(--getglobalstate) printf 'Firewall (State = %s)\\n' "$(/bin/cat "$s/firewall")" ;;
(--getblockall) printf 'Firewall has block all state set to disabled.\\n' ;;
(*on) printf 1 >"$s/firewall" ;;
(*) printf 0 >"$s/firewall" ;;
esac`,
};

const services = ['Ethernet', "Ana's", 'Thunderbolt Bridge', 'Thunderbolt 2', 'Thunderbolt 3', 'Thunderbolt 4'];
const known = (files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`../s/${name}`, text]));

/** The files of every such Mac. */
const everywhere = known({
  services: `${services.join('\n')}\n`,
  ...Object.fromEntries(services.map((name, at) => [`on.${name}`, String(at)])),
  ...Object.fromEntries(services.map((name, at) => [`device.${name}`, `en${at}`])),
  'info.Thunderbolt 2': 'Manual Configuration\nIP address: 10.77.0.1\nSubnet mask: 255.255.255.252\n',
  'if.en3': '\tinet 10.77.0.1 netmask 0xfffffffc\n\tstatus: active\n',
  sleep: '10\n',
  autorestart: '0\n',
  index: 'enabled.\n',
  firewall: '1',
  AutoBackup: '1\n',
  overrides: '',
});
const theirs = 'Library/LaunchDaemons/io.exo.networksetup.plist';
const placement = placementFolder('kimi').path;
const version = treeFolder({ ...exampleRuntime, digest: exampleDigest }).path;
const job = `${ours}/ops/${exampleDigest}`;
const kept = (key: string, text: string) => ({ [`${ours}/baseline/${key}`]: `${text}\n` });

/** Further files by script, so that each script has something to do. */
const before: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'clear-hold': { [`${ours}/hold`]: 'reason=x\n' },
  'remove-bridge': known({ preference: '', 'if.bridge0': 'flags=8863<UP,BROADCAST>\n' }),
  'set-link-address': known({ 'if.en3': '\tstatus: active\n' }),
  'stop-daemon': { ...known({ 'loaded.io.exo.networksetup': '' }), [theirs]: '<plist/>' },
  'load-keeper': { ...known({ 'loaded.dev.meshwright.keeper': '' }), [keeperPlist.path]: '<plist/>' },
  'remove-keeper': { ...known({ 'loaded.dev.meshwright.keeper': '' }), [keeperPlist.path]: '<plist/>' },
  'load-gateway': { ...known({ 'loaded.dev.meshwright.gateway.8080': '7' }), [gatewayPlist(8080).path]: '<plist/>' },
  'remove-gateway': { ...known({ 'loaded.dev.meshwright.gateway.8080': '7' }), [gatewayPlist(8080).path]: '<plist/>' },
  'restore-network': known({ services: `${[...services, 'Thunderbolt 2 2'].join('\n')}\n` }),
  'return-daemon': { 'Library/LaunchDaemons/x': '', [`${ours}/foreign/io.exo.networksetup.plist`]: '<plist/>' },
  'clear-node': {
    ...known({ 'loaded.dev.meshwright.keeper': '' }),
    [keeperPlist.path]: '<plist/>',
    [`${version}/bin/rank`]: '',
    [`${job}/run`]: '',
  },
  'withdraw-node': {
    'etc/sudoers.d/meshwright': '',
    'Users/mesh/.ssh/authorized_keys': 'ssh-ed25519 AAAA ana\nssh-ed25519 BBBB meshwright\n',
  },
  'prepare-staging': { [verifiedMark(exampleModel).path]: `${'f'.repeat(64)}\n` },
  'publish-tree': {
    [stagedFile(exampleModel, 'a').path]: 'ab',
    [verifiedMark(exampleModel).path]: `${exampleDigest} flushed\n`,
    [`${treeFolder(exampleModel).path}/old`]: '',
    [`${job}/rc`]: '0\n',
  },
  'clear-staging': { 'opt/meshwright/staging/model-tiny-0123456789abcdef/tree/a': '', [`${job}/rc`]: '0\n' },
  'switch-runtime': { [`${version}/bin/rank`]: '' },
  'remove-runtime-versions': { [`${dirname(version)}/0123456789abcdef/a`]: '' },
  'remove-model-versions': { 'opt/meshwright/models/tiny/0123456789abcdef/a': '' },
  'bootstrap-rank': {
    ...known({ 'loaded.dev.meshwright.rank.kimi': '' }),
    [serviceFile('kimi').path]: '<plist/>',
    [`${placement}/files/old`]: '',
    [rankLog('kimi').path]: '',
  },
  'kick-rank': {
    ...known({ 'loaded.dev.meshwright.rank.kimi': '' }),
    [`${placement}/record`]: 'generation=3\nstartedIn=x\nstarts=4\n',
  },
  'keep-golden': { [`${placement}/record`]: 'generation=3\n' },
  'remove-rank': {
    ...known({ 'loaded.dev.meshwright.rank.kimi': '' }),
    [serviceFile('kimi').path]: '<plist/>',
    [`${placement}/record`]: 'generation=3\n',
  },
  'open-endpoint': { [closedFile(8080, 'chat').path]: '' },
  'restore-value power': kept('power', 'sleep 1\nautorestart 1'),
  'restore-value wired-limit': kept('wired-limit', '4096'),
  'restore-value spotlight': { ...kept('spotlight', '/ off') },
  'restore-value time-machine': kept('time-machine', 'off'),
  'restore-value photos-analysis': kept('photos-analysis', 'com.apple.mediaanalysisd off\ncom.apple.photoanalysisd on'),
  'restore-value updates': kept('updates', 'off'),
  'restore-value names': kept('names', 'HostName old'),
  'restore-value screen-sharing': kept('screen-sharing', 'on'),
  'restore-value firewall': kept('firewall', 'off'),
};

/** One run: all tool calls and the script's result. */
export interface WholeRun {
  readonly calls: readonly string[];
  readonly result: ScriptResult;
  readonly stdout: string;
}

/** A Mac on which a script can run repeatedly from the same state. */
export interface WholeMac {
  readonly root: MacRoot;
  /** Runs a script; a tool call that begins with `failing` prints `refused` and exits with 1. */
  run(text: string, failing?: string): Promise<WholeRun>;
  /** Restores the initial state. */
  reset(): void;
}

/** Differences between a Mac and the state that its script expects. Links are created last, by their targets. */
export interface OddMac {
  readonly tools?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
  readonly folders?: readonly string[];
  readonly links?: Readonly<Record<string, string>>;
}

/** Creates a Mac with the files that a script needs. */
export function wholeMac(shell: Shell, script: string, odd: OddMac = {}): WholeMac {
  const root = makeMacRoot(shell);
  for (const [path, body] of Object.entries({ ...tools, ...odd.tools })) root.tool(path, `s="$R/../s"\n${body}`);
  root.tool('usr/sbin/chown', 'exit 0');
  for (const [path, text] of Object.entries({ ...everywhere, ...before[script], ...odd.files })) root.file(path, text);
  for (const path of odd.without ?? []) rmSync(join(root.folder, path), { recursive: true });
  for (const path of odd.folders ?? []) mkdirSync(join(root.folder, path), { recursive: true });
  for (const [path, to] of Object.entries(odd.links ?? {})) symlinkSync(to, join(root.folder, path));
  if (script === 'remove-runtime-versions')
    symlinkSync('f'.repeat(16), join(root.folder, currentLink('reference').path));
  const top = dirname(root.folder);
  const calls = join(top, 'all-calls');
  const failing = join(top, 'failing');
  for (const line of root.tree().filter((one) => /^(?:usr|bin|sbin)\/\S+ 1007\d\d #!/.test(one))) {
    const path = line.slice(0, line.indexOf(' '));
    const [first, second, ...rest] = readFileSync(join(root.folder, path), 'utf8').split('\n');
    const hook = [
      `c="${path.replace(/.*\//, '')} $*"`,
      `printf '%s\\0' "$c" >>"$R/../all-calls"`,
      `f=''; [ ! -s "$R/../failing" ] || IFS= read -r f <"$R/../failing"`,
      'case ${f:+$c} in ("$f"?*) printf \'refused\\n\' >&2; exit 1 ;; esac',
    ];
    writeFileSync(join(root.folder, path), [first, second, ...hook, ...rest].join('\n'));
  }
  const kept = join(top, 'kept');
  const state = ['s', ...['Library', 'Users', 'etc', 'opt', 'tmp'].map((name) => join(basename(root.folder), name))];
  const copy = (from: string, to: string): void => {
    for (const name of state) {
      rmSync(join(to, name), { recursive: true, force: true });
      if (existsSync(join(from, name))) {
        cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
      }
    }
    rmSync(join(top, 'wired'), { force: true });
  };
  copy(top, kept);
  return {
    root,
    reset: () => copy(kept, top),
    run: async (text, word = '') => {
      writeFileSync(calls, '');
      writeFileSync(failing, word === '' ? '' : `${word}\n`);
      const { result, stdout } = await root.run(
        `HOME='${root.folder.replaceAll("'", "'\\''")}/Users/mesh'\nexport HOME\n${text}`,
      );
      return { result, stdout, calls: readFileSync(calls, 'utf8').split('\0').slice(0, -1) };
    },
  };
}

/** The result of a script, in one line. */
export const answer = ({ result, stdout }: WholeRun): string => {
  if (result.kind === 'done') return [...result.said, result.isChanged ? 'changed' : 'unchanged'].join(' ');
  if (result.kind === 'failed') return `${result.slug}: ${result.text}`;
  return result.kind === 'unknown' ? stdout.trimEnd().replaceAll('\n', ' ') : result.kind;
};

/** The changes of a run on the disk, without the history and the test's tools. */
export function left(was: readonly string[], now: readonly string[]): readonly string[] {
  const isOurs = (line: string) => !/\/log\/(?:history)? /.test(line);
  return [
    ...was.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
  ].filter((line) => isOurs(line.slice(2)));
}
