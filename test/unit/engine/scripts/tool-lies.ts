/** The reaction of each script to a macOS tool that exits with 0 and changes nothing. */
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { ScriptArgs } from '../../../../src/model/node-script.ts';
import { keeperPlist } from '../../../../src/node/paths/keeper-files.ts';
import { tool } from '../../../../src/node/paths/node-paths.ts';
import {
  accountFile,
  gatewayPlist,
  placementFolder,
  serviceFile,
  stagedArchive,
} from '../../../../src/node/paths/own-paths.ts';
import { ours } from './mac-root.ts';
import { vmStat } from './rank-root.ts';
import { sha256 } from './run-job.ts';
import { exampleRuntime } from './script-examples.ts';

/** A write without effect: the tool still answers every query as before the write. */
export interface Lie {
  /** Bodies of tools by path; any other tool exits with 0 and prints nothing. */
  readonly tools?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Arguments that differ from those of the example. */
  readonly args?: object;
  readonly slug: string;
}
/** A write that its script does not check: the reason, and the fact that shows the write in the next observation. */
export interface Later {
  readonly later: string;
  readonly fact: keyof FactValues;
}
/** A write that needs no check, with the reason. */
export interface Needless {
  readonly needless: string;
}

const networksetup = (reads: string): string => `case $1 in\n${reads}\nesac`;
const manual = "(-getinfo) printf 'DHCP Configuration\\nIP address: 10.0.0.9\\n' ;;";
const on = "(-getnetworkserviceenabled) printf 'Enabled\\n' ;;";
const off = "(-getnetworkserviceenabled) printf 'Disabled\\n' ;;";
const lists = (...services: readonly string[]): string =>
  `(-listallnetworkservices) printf '%s\\n' 'An asterisk (*) denotes that a network service is disabled.' ${services.map((one) => `"${one}"`).join(' ')} ;;`;

/** A launchd that gives the same answer for every service; a disabled service cannot be loaded. */
const launchd = (state: 'loaded' | 'absent', word: 'enabled' | 'disabled' | '' = '', label = 'x'): string => `case $1 in
(print) ${state === 'loaded' ? `printf '%s = {\\n\\tstate = waiting\\n}\\n' "$2"` : `printf 'Could not find service "x" in domain for system\\n'; exit 113`} ;;
(print-disabled) printf 'disabled services = {\\n${word === '' ? '' : `\\t"${label}" => ${word}\\n`}}\\n' ;;
(bootstrap) ${word === 'disabled' ? "printf 'Bootstrap failed: 5: Input/output error\\n'; exit 5" : ':'} ;;
esac`;
const launchctl = (...words: Parameters<typeof launchd>): Lie => ({
  tools: { 'bin/launchctl': launchd(...words) },
  slug: 'launchctl',
});
const screenSharing = 'com.apple.screensharing';
const ifconfig = (flags: string, members: readonly string[]): string =>
  `case $# in (1) printf '%s: flags=8863<${flags}BROADCAST> mtu 1500\\n${members.map((one) => `\\tmember: ${one} flags=3\\n`).join('')}' "$1" ;; esac`;
const missing = 'case $# in (1) exit 1 ;; esac';
const bridge = (body: string): Lie => ({
  tools: { 'sbin/ifconfig': body },
  args: { made: [], switched: [], manual: [], order: [] },
  slug: 'ifconfig',
});
const restores = (part: Partial<ScriptArgs['restore-network']>, reads: string): Lie => ({
  tools: { 'usr/sbin/networksetup': networksetup(reads) },
  args: { bridge: undefined, made: [], switched: [], manual: [], order: [], ...part },
  slug: 'networksetup',
});
const restored = (key: string, then: string, path: string, reads: string): Lie => ({
  tools: { [path]: reads },
  files: { [`${ours}/baseline/${key}`]: `${then}\n` },
  args: { key },
  slug: 'restore',
});
const member = { [serviceFile('kimi').path]: '<plist/>', [`${placementFolder('kimi').path}/record`]: 'generation=3\n' };
const rank = (...words: Parameters<typeof launchd>): Lie => ({
  tools: { 'bin/launchctl': launchd(...words), 'usr/bin/vm_stat': vmStat },
  files: member,
  slug: 'launchctl',
});
const gateway = { [gatewayPlist(8080).path]: '<plist/>' };
const keeper = { [keeperPlist.path]: '<plist/>' };
const theirs = { 'Library/LaunchDaemons/io.exo.networksetup.plist': '<plist/>' };
const oneAccount = 'a rehearsal has only one account, and on a Mac the same tool has set owners correctly for years;';

const asUpdate: Later = { later: 'only the next boot session shows it', fact: 'macos-version' };
const keeps: Later = { later: 'the next round compares again, a minute later', fact: 'keeper' };
const asUnpack: Needless = { needless: 'the same lines as in unpack-runtime' };
const asTree = { 'chown -R': asUnpack, 'chmod -R': asUnpack };
const asFetch: Readonly<Record<string, Needless>> = {
  'chmod -R': { needless: 'the script does not call it: the job that unpacks the archive sets the modes' },
  'chown -R': asUnpack,
  'sudo -n': { needless: 'without it, no byte arrives, and the script compares the digest' },
};
/** What uv.sh and unpack.sh call. */
const withUv: Readonly<Record<string, Needless>> = {
  'hdiutil attach': asUnpack,
  'hdiutil detach': asUnpack,
  'ditto $f': asUnpack,
  'tar -tf': asUnpack,
  'tar -xf': asUnpack,
  'chown -R': asUnpack,
  'chmod -R': asUnpack,
  'chown $account': { needless: 'without it, uv cannot write into its folder' },
  'mktemp -d': { needless: 'the script checks that the folder exists' },
  'sudo -n': { needless: 'without it, the script does not find Python' },
};
/** The folder of a transaction in these tests. */
export const saved = 'Library/transaction';
/** The state saved by a transaction, next to the script that restores this state. */
const back = (tools: Lie['tools'], files: Readonly<Record<string, string>>): Lie => ({
  ...(tools === undefined ? {} : { tools }),
  files: {
    [`${saved}/preferences.plist`]: '',
    'Library/Preferences/SystemConfiguration/preferences.plist': '',
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`${saved}/${name}`, text])),
  },
  slug: 'exit 1',
});
const unpacks = (archive: 'dmg' | 'tar.gz', tools: Lie['tools'], slug = 'bad-archive'): Lie => ({
  ...(tools === undefined ? {} : { tools }),
  files: { [stagedArchive(exampleRuntime, archive).path]: 'x' },
  args: { tree: exampleRuntime, archive, sha256: sha256('x'), extras: [] },
  slug,
});

/** The log of a service belongs to the ssh user. */
const chownLogin = 'chown $' + '{SUDO_USER:-root}';

const withPeers = {
  'chown $peer_account': { needless: 'without it, the program cannot write, and the job fails' },
  'mkfifo -m': { needless: 'without it, the shell cannot open the fifos, and the job ends' },
} as const;

const withoutPeers: Needless = { needless: 'without it, the job serves nothing, and other Macs find no source' };

/** By script, then by the tool call that writes. */
export const rows: Readonly<Record<string, Readonly<Record<string, Lie | Later | Needless>>>> = {
  'set-power': {
    'pmset -c': { tools: { 'usr/bin/pmset': "printf 'AC Power:\\n sleep 10\\n autorestart 0\\n'" }, slug: 'pmset' },
  },
  'set-updates': { 'defaults write': { tools: { 'usr/bin/defaults': "printf '1\\n'" }, slug: 'defaults' } },
  'set-names': { 'scutil --set': { tools: { 'usr/sbin/scutil': "printf 'old\\n'" }, slug: 'scutil' } },
  'make-account': { dscl: { tools: { 'usr/bin/dscl': 'exit 0' }, slug: 'dscl' } },
  'remove-accounts': {
    dscl: { needless: 'these calls only read' },
    'dscl -delete': {
      tools: {
        'usr/bin/dscl':
          "case $3 in (/Groups*) printf 'PrimaryGroupID: 450\\n' ;; (*) printf 'UniqueID: 450\\nGeneratedUID: G\\n' ;; esac",
      },
      files: { [accountFile('_meshrank').path]: 'uid=450 id=G\n' },
      slug: 'dscl',
    },
  },
  'authorize-restart': {
    'fdesetup authrestart': { later: 'only the next start of macOS shows it', fact: 'boot-session' },
  },
  'set-clock': { 'sntp -sS': { later: 'a node has no second clock to compare with', fact: 'clock' } },
  'set-screen-sharing': {
    'launchctl $verb': launchctl('absent', 'disabled', screenSharing),
    'launchctl bootstrap': launchctl('absent', 'enabled', screenSharing),
  },
  'stop-firewall': {
    'socketfilterfw --setglobalstate': {
      tools: { [tool.socketfilterfw.path]: "case $1 in (--get*) printf 'Firewall is enabled. (State = 1)\\n' ;; esac" },
      slug: 'socketfilterfw',
    },
  },
  'stop-spotlight': {
    'mdutil -i': {
      tools: { 'usr/bin/mdutil': "case $2 in (-s) printf '/:\\n\\tIndexing enabled. \\n' ;; esac" },
      slug: 'mdutil',
    },
  },
  'stop-backups': { 'tmutil disable': { tools: { 'usr/bin/defaults': "printf '1\\n'" }, slug: 'tmutil' } },
  'stop-photos-analysis': { 'launchctl disable': launchctl('absent') },
  'set-wired-limit': {
    sysctl: { tools: { 'usr/sbin/sysctl': "case $1 in (-n) printf '0\\n' ;; esac" }, slug: 'sysctl' },
  },
  'remove-bridge': {
    'networksetup -setnetworkserviceenabled': {
      tools: {
        'usr/sbin/networksetup': networksetup(on),
        'usr/libexec/PlistBuddy': 'exit 1',
        'sbin/ifconfig': missing,
      },
      slug: 'networksetup',
    },
    'PlistBuddy Delete': {
      tools: { 'usr/sbin/networksetup': networksetup(off), 'sbin/ifconfig': missing },
      slug: 'plistbuddy',
    },
    'ifconfig deletem': { needless: 'the script destroys the bridge next, and checks this' },
    'ifconfig destroy': {
      tools: { 'usr/sbin/networksetup': networksetup(off), 'usr/libexec/PlistBuddy': 'exit 1' },
      slug: 'ifconfig',
    },
  },
  'set-link-address': {
    'networksetup -createnetworkservice': {
      tools: { 'usr/sbin/networksetup': networksetup(`${lists('Ethernet')}\n${on}`) },
      slug: 'networksetup',
    },
    'networksetup -setnetworkserviceenabled': {
      tools: {
        'usr/sbin/networksetup': networksetup(
          `${lists("*Ana's cable")}\n${off}\n(-getinfo) printf 'Manual Configuration\\nIP address: 10.77.0.1\\nSubnet mask: 255.255.255.252\\n' ;;`,
        ),
      },
      slug: 'networksetup',
    },
    'networksetup -setmanual': {
      tools: { 'usr/sbin/networksetup': networksetup(`${lists("Ana's cable")}\n${on}\n${manual}`) },
      slug: 'networksetup',
    },
    'ifconfig inet': {
      tools: {
        'usr/sbin/networksetup': networksetup(
          `${lists("Ana's cable")}\n${on}\n(-getinfo) printf 'Manual Configuration\\nIP address: 10.77.0.1\\nSubnet mask: 255.255.255.252\\n' ;;`,
        ),
        'sbin/ifconfig': "case $# in (1) printf '\\tstatus: active\\n' ;; esac",
      },
      slug: 'ifconfig',
    },
  },
  'clear-link-address': {
    'networksetup -setdhcp': {
      tools: { 'usr/sbin/networksetup': networksetup("(-getinfo) printf 'Manual Configuration\\n' ;;") },
      slug: 'networksetup',
    },
    'ifconfig inet': {
      tools: {
        'usr/sbin/networksetup': networksetup(manual),
        'sbin/ifconfig': "case $# in (1) printf '\\tinet 10.77.0.1 netmask 0xfffffffc\\n' ;; esac",
      },
      slug: 'ifconfig',
    },
  },
  'stop-daemon': { 'launchctl disable': launchctl('absent') },
  'order-services': {
    'networksetup -ordernetworkservices': {
      tools: {
        'usr/sbin/networksetup': networksetup(
          "(-listnetworkserviceorder) printf '(1) Cable\\n(Hardware Port: Thunderbolt 1, Device: en2)\\n\\n(2) Ethernet\\n(Hardware Port: Ethernet, Device: en0)\\n' ;;",
        ),
      },
      slug: 'networksetup',
    },
  },
  'load-keeper': {
    'launchctl enable': { ...launchctl('absent', 'disabled'), files: keeper },
    'launchctl bootstrap': { ...launchctl('absent'), files: keeper },
  },
  'load-gateway': {
    [chownLogin]: {
      later: `${oneAccount} a gateway that cannot write its log or its counts does not keep running`,
      fact: 'services',
    },
    [`${chownLogin}:$x`]: {
      later: `${oneAccount} a gateway that cannot write its log or its counts does not keep running`,
      fact: 'services',
    },
    'chown $owner': {
      later: `${oneAccount} a gateway that cannot write its log or its counts does not keep running`,
      fact: 'services',
    },
    'launchctl enable': { ...launchctl('absent', 'disabled'), files: gateway },
    'launchctl bootstrap': { ...launchctl('absent'), files: gateway, slug: 'gateway' },
  },
  'restore-network': {
    'plutil -insert': { ...bridge(missing), tools: { 'usr/libexec/PlistBuddy': 'exit 1' }, slug: 'plutil' },
    'ifconfig create': bridge(missing),
    'ifconfig addm': bridge(ifconfig('UP,', ['en2'])),
    'ifconfig up': bridge(ifconfig('', ['en2', 'en3'])),
    'networksetup -removenetworkservice': restores({ made: ['Cable'] }, lists('Cable')),
    'networksetup -setnetworkserviceenabled': restores({ switched: [{ service: 'Cable', on: true }] }, off),
    'networksetup -setmanual': restores(
      { manual: [{ service: 'Cable', device: 'en4', address: '192.0.2.7', prefixLength: 24 }] },
      `${on}\n${manual}`,
    ),
    'networksetup -ordernetworkservices': restores(
      { order: ['A', 'B'] },
      "(-listnetworkserviceorder) printf '(1) B\\n(2) A\\n' ;;",
    ),
  },
  'restore-value power': {
    'pmset -c': restored('power', 'sleep 1', 'usr/bin/pmset', "printf 'AC Power:\\n sleep 0\\n'"),
  },
  'restore-value wired-limit': {
    sysctl: restored('wired-limit', '4096', 'usr/sbin/sysctl', "case $1 in (-n) printf '0\\n' ;; esac"),
  },
  'restore-value spotlight': {
    'mdutil -i': restored(
      'spotlight',
      '/ on',
      'usr/bin/mdutil',
      "case $2 in (-s) printf '/:\\n\\tIndexing disabled.\\n' ;; esac",
    ),
  },
  'restore-value time-machine': {
    'tmutil enable': restored('time-machine', 'on', 'usr/bin/defaults', "printf '0\\n'"),
    'tmutil disable': restored('time-machine', 'off', 'usr/bin/defaults', "printf '1\\n'"),
  },
  'restore-value photos-analysis': {
    'launchctl $w': restored('photos-analysis', 'com.apple.photoanalysisd off', 'bin/launchctl', launchd('absent')),
  },
  'restore-value updates': {
    'defaults delete': restored('updates', 'on', 'usr/bin/defaults', "printf '0\\n'"),
    'defaults write': restored('updates', 'off', 'usr/bin/defaults', "printf '1\\n'"),
  },
  'restore-value names': { 'scutil --set': restored('names', 'HostName old', 'usr/sbin/scutil', "printf 'new\\n'") },
  'restore-value screen-sharing': {
    'launchctl enable': restored('screen-sharing', 'on', 'bin/launchctl', launchd('loaded', 'disabled', screenSharing)),
    'launchctl bootstrap': restored(
      'screen-sharing',
      'on',
      'bin/launchctl',
      launchd('absent', 'enabled', screenSharing),
    ),
    'launchctl bootout': restored(
      'screen-sharing',
      'off',
      'bin/launchctl',
      launchd('loaded', 'disabled', screenSharing),
    ),
    'launchctl disable': restored(
      'screen-sharing',
      'off',
      'bin/launchctl',
      launchd('absent', 'enabled', screenSharing),
    ),
  },
  'restore-value firewall': {
    'socketfilterfw --setglobalstate': restored(
      'firewall',
      'on',
      tool.socketfilterfw.path,
      "case $1 in (--get*) printf '(State = 0)\\n' ;; esac",
    ),
    'socketfilterfw --setblockall': restored(
      'firewall',
      'blocks-all',
      tool.socketfilterfw.path,
      "case $1 in (--getglobal*) printf '(State = 1)\\n' ;; (--getblock*) printf 'is disabled.\\n' ;; esac",
    ),
  },
  'return-daemon': {
    'launchctl enable': { ...launchctl('absent', 'disabled'), files: theirs },
    'launchctl bootstrap': { ...launchctl('absent'), files: theirs },
  },
  'settle-transaction': {
    'launchctl bootout': {
      needless: 'the rollback stops itself with this call, and its plist has already been removed',
    },
    'chown root:wheel': {
      needless: 'launchd refuses a property list with a different owner, and the script checks the loading',
    },
    'launchctl enable': { needless: 'the script checks the loading next, as in a network change' },
    'launchctl bootstrap': { needless: 'only a network change arms a rollback' },
  },
  'prepare-staging': {
    'chown -R': { later: `${oneAccount} without it, the account cannot send the first byte`, fact: 'trees' },
  },
  'bootstrap-rank': {
    'chown $2': { later: `${oneAccount} launchd does not start a program whose log it cannot open`, fact: 'services' },
    [chownLogin]: {
      later: `${oneAccount} launchd does not start a program whose log it cannot open`,
      fact: 'services',
    },
    [`${chownLogin}:$x`]: {
      later: `${oneAccount} launchd does not start a program whose log it cannot open`,
      fact: 'services',
    },
    'launchctl enable': rank('absent', 'disabled'),
    'launchctl bootstrap': rank('absent'),
  },
  'check-account': {
    'chown $2': { later: `${oneAccount} without it, the account has no writable home`, fact: 'services' },
    [chownLogin]: {
      later: `${oneAccount} launchd does not start a program whose log it cannot open`,
      fact: 'services',
    },
    [`${chownLogin}:$x`]: {
      later: `${oneAccount} launchd does not start a program whose log it cannot open`,
      fact: 'services',
    },
    'launchctl bootstrap': {
      ...launchctl('absent'),
      tools: { ...launchctl('absent').tools, 'usr/bin/sw_vers': 'printf 25E246' },
    },
  },
  'kick-rank': { 'launchctl kickstart': { ...rank('loaded'), slug: 'ended-at-once' } },
  put: { 'chown root:wheel': { needless: 'root already owns the new file, so chown changes at most the group' } },
  restart: { 'shutdown -r': { later: 'the script ends before the Mac goes down', fact: 'boot-session' } },
  'waiting for a confirmation': {
    'launchctl bootout': { later: 'the call stops the process that makes it', fact: 'services' },
  },
  'round of the keeper': {
    'PlistBuddy Delete': keeps,
    'ifconfig deletem': keeps,
    'ifconfig destroy': keeps,
    'ifconfig inet': keeps,
    sysctl: keeps,
  },
  'restoring of a bridge': {
    'ifconfig addm': back({ 'sbin/ifconfig': ifconfig('UP,', []) }, { bridge: 'en2\n' }),
    'ifconfig create': back({ 'sbin/ifconfig': missing }, { bridge: 'en2\n' }),
    'ifconfig deletem': { needless: 'the script destroys the bridge next, and checks this' },
    'ifconfig destroy': back({ 'sbin/ifconfig': ifconfig('UP,', ['en2']) }, {}),
    'ifconfig up': back({ 'sbin/ifconfig': ifconfig('', ['en2']) }, { bridge: 'en2\n' }),
    'networksetup -removenetworkservice': back(
      { 'usr/sbin/networksetup': networksetup(lists('Thunderbolt Bridge')), 'sbin/ifconfig': missing },
      {},
    ),
    'networksetup -setnetworkserviceenabled': back(
      { 'usr/sbin/networksetup': networksetup(off), 'sbin/ifconfig': missing },
      { 'service.0': 'Enabled\n' },
    ),
  },
  'restoring of an address': {
    'ifconfig inet': back(
      { 'usr/sbin/networksetup': networksetup(on) },
      { 'service.0': 'Enabled\n', 'inet.en3': '10.0.0.9 0xffffff00\n' },
    ),
    'networksetup -removenetworkservice': back(
      { 'usr/sbin/networksetup': networksetup(lists("Ana's cable")) },
      { 'inet.en3': '\n' },
    ),
    'networksetup -setnetworkserviceenabled': back(
      { 'usr/sbin/networksetup': networksetup(off) },
      { 'service.0': 'Enabled\n', 'inet.en3': '\n' },
    ),
  },
  'job unpack-runtime': {
    'tar -tf': unpacks(
      'tar.gz',
      { 'usr/bin/tar': 'case $1 in (-tf) ;; (*) printf x >"$4/a" ;; esac' },
      'unsafe-archive',
    ),
    'tar -xf': unpacks('tar.gz', { 'usr/bin/tar': "case $1 in (-tf) printf 'a\n' ;; esac" }),
    'hdiutil attach': unpacks('dmg', { 'usr/bin/ditto': 'exec /bin/cp -R "$1" "$2"' }),
    'hdiutil detach': unpacks('dmg', {
      'usr/bin/hdiutil': 'case $1 in (attach) printf x >"$6/a" ;; esac',
      'usr/bin/ditto': 'exec /bin/cp -R "$1" "$2"',
    }),
    'ditto $f': unpacks('dmg', {
      'usr/bin/hdiutil': 'case $1 in (attach) printf x >"$6/a" ;; (*) /bin/rm -f "$2/a" ;; esac',
    }),
    'chown -R': unpacks(
      'tar.gz',
      { 'usr/bin/stat': "case $2 in (%u) printf '4242\n' ;; (*) printf '1\n' ;; esac" },
      'chown',
    ),
    'chmod -R': unpacks(
      'tar.gz',
      {
        'usr/bin/tar': 'case $1 in (-tf) printf "a\n" ;; (*) printf x >"$6/a"; /bin/chmod 666 "$6/a" ;; esac',
        'bin/chmod': 'exit 0',
      },
      'chmod',
    ),
  },
  'job build-python': {
    ...withUv,
    'tar -cf': { needless: 'without it, tar finds an empty file instead of an archive' },
  },
  'job list-packages': withUv,
  'job build-archive': {
    'chmod -R': asFetch['chmod -R'] as Needless,
    'chown -R': asUnpack,
    'chown $account': { needless: 'without it, CMake cannot write into its folder' },
    'mktemp -d': { needless: 'the script checks that the folder exists' },
    'sudo -n': { needless: 'without it, the script finds no folder in the archive of the commit' },
    'tar -czf': { needless: 'without it, the archive has no size' },
    'tar -xf': { needless: 'without it, the script finds no folder in the archive of the commit' },
  },
  'job fetch-archive': asFetch,
  'job download-macos': { 'softwareupdate --download': asUpdate },
  'job install-macos': { 'softwareupdate --install': asUpdate },
  'job fetch-source': asFetch,
  'job serve-model': { ...withPeers, 'sudo -n': withoutPeers },
  'job fetch-model': {
    ...withPeers,
    ...asTree,
    'sudo -n': { needless: 'without it, no byte arrives, and the script compares the digest' },
  },
  'job adopt-model': asTree,
  'job verify-model': { ...withPeers, ...asTree, 'sudo -n': withoutPeers },
  'job prepare-rank': {
    'chown $2': { needless: 'without it, the account cannot write its results, and its program fails' },
    'sudo -n': {
      needless: 'it looks like a program that has nothing to prepare; a placement serves only after a token',
    },
  },
  'stop-rank': {
    'sample $1': { needless: 'the sample is only for people: the script prints its name if the file exists' },
    'launchctl kill': { needless: 'the script also sends KILL to the processes, and waits until they exit' },
  },
};
