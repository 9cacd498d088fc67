import type { MacState } from '../model/fleet.ts';
import { buildOf, darwinRelease, newerMacos, newestRelease } from '../model/macos-builds.ts';
import { seededInteger, seededText } from '../model/seed.ts';
import {
  from,
  lines,
  type Row,
  row,
  type Source,
  type Tool,
  type ToolChange,
  unconfirmedUsage,
  usage,
} from './tool.ts';

/** The xnu build in `uname -v`, in macOS 26's form. */
const xnuBuild = (version: string): string =>
  `xnu-${seededInteger(['xnu', version], 12_000, 12_999)}.${seededText(['xnu-train', version], '123456789', 2)}.1~1`;

const version = ({ macos }: MacState): string =>
  `Darwin Kernel Version ${darwinRelease(macos.version)}: Thu Apr 16 20:11:58 PDT 2026; root:${xnuBuild(macos.version)}/RELEASE_ARM64`;

const kernelVersion = from.unconfirmed("uname -v prints the kernel's date and train, and the chip at the end");

/** `uname`: prints Darwin, its release, and the Mac's name. */
export const uname: Tool = {
  path: '/usr/bin/uname',
  rows: ({ mac }) => {
    const host = `${mac.name}.local`;
    const release = darwinRelease(mac.macos.version);
    const said = (args: readonly string[], text: string): Row => row(args, from.apple('uname(1)'), lines(text));
    return [
      said([], 'Darwin'),
      said(['-s'], 'Darwin'),
      said(['-r'], release),
      said(['-m'], 'arm64'),
      said(['-n'], host),
      row(['-p'], from.published('codota/TabNine issue 326: `uname -pm` prints "arm64 arm"'), lines('arm')),
      row(['-v'], kernelVersion, lines(version(mac))),
      said(['-a'], `Darwin ${host} ${release} ${version(mac)} arm64`),
    ];
  },
  usage: unconfirmedUsage('uname', 1, 'usage: uname [-amnoprsv]'),
};

/** One update in a scan result, in the tool's terms. */
const safari = {
  label: 'Safari27.0TahoeAuto-27.0',
  title: 'Safari',
  version: '27.0',
  sizeKib: 249_465,
  needsRestart: false,
};

type Offer = Readonly<typeof safari>;

/** The first version of macOS 27 has neither a minor version nor a name. macOS 26 is called Tahoe. */
function macosOffer(version: string, sizeKib: number): Offer {
  const short = version.replace(/\.0$/, '');
  const title = version.startsWith('26.') ? `macOS Tahoe ${short}` : `macOS ${short}`;
  return { label: `${title}-${buildOf(version)}`, title, version: short, sizeKib, needsRestart: true };
}

/** The offers newer than the installed version: the year's newest update and, on macOS 26, the upgrade to 27. */
function offersFor(installed: string): readonly Offer[] {
  const isYear26 = installed.startsWith('26.');
  const update = newestRelease(isYear26 ? 26 : 27);
  const found = [
    ...(update !== undefined && newerMacos(installed, update) !== installed ? [macosOffer(update, 3_039_632)] : []),
    ...(isYear26 ? [macosOffer('27.0', 11_727_219)] : []),
  ];
  return found.length === 0 ? [] : [safari, ...found];
}

/** The macOS that the next boot starts after this update; or the versions that the Mac is offered instead. */
export function updateTo(mac: MacState, version: string): MacState['macos'] | readonly string[] {
  const versions = offersFor(mac.macos.version)
    .filter((one) => one.needsRestart)
    .map((one) => withMinor(one.version));
  return versions.includes(withMinor(version))
    ? { version: withMinor(version), build: buildOf(withMinor(version)) }
    : versions;
}

const withMinor = (version: string): string => (version.includes('.') ? version : `${version}.0`);

const itemLines = ({ label, title, version, sizeKib, needsRestart }: Offer): readonly string[] => [
  `* Label: ${label}`,
  `\tTitle: ${title}, Version: ${version}, Size: ${sizeKib}KiB, Recommended: YES, ${needsRestart ? 'Action: restart, ' : ''}`,
];

const both = from.capture(
  'softwareupdate-list.macos26.6.safari-tahoe-and-27.txt',
  'tuist/tuist, a CI Mac with macOS 26.6',
);
const one = from.unconfirmed('softwareupdate lists a single newer macOS after Safari, as it does in a longer list');
const none = from.unconfirmed(
  'softwareupdate without an update prints its title, then "No new software available." on stderr, and exits with 0',
);

const sourceOf = (offers: readonly Offer[]): Source => (offers.length > 2 ? both : offers.length > 0 ? one : none);

function listed(installed: string, args: Row['args']): Row {
  const offers = offersFor(installed);
  const heading = 'Software Update found the following new or updated software:';
  return {
    args,
    source: sourceOf(offers),
    stdout: lines(
      'Software Update Tool',
      '',
      'Finding available software',
      ...(offers.length === 0 ? [] : [heading, ...offers.flatMap(itemLines)]),
    ),
    ...(offers.length === 0 ? { stderr: lines('No new software available.') } : {}),
  };
}

const manualPage = from.apple('softwareupdate(8): --download, --install, --restart, --user, --stdinpass');
const texts = from.unconfirmed('the output of softwareupdate --download and --install: percentages, then a last line');

const offerNamed = (mac: MacState, label: string | undefined): Offer | undefined =>
  offersFor(mac.macos.version).find((one) => one.label === label);

const noSuchUpdate = (label: string | undefined) => ({
  stdout: lines('Software Update Tool', '', 'Finding available software'),
  stderr: lines(`${label}: No such update`),
  exitCode: 1,
});

const download: ToolChange = ({ mac, isRoot, words: [label = ''] }) => {
  const offer = offerNamed(mac, label);
  if (offer === undefined) return noSuchUpdate(label);
  if (!isRoot) return { stderr: lines('softwareupdate: Must be run as root'), exitCode: 1 };
  const downloads = [...new Set([...(mac.downloads ?? []), label])];
  return {
    after: { downloads },
    stdout: `${lines('Software Update Tool', '')}Downloading ${offer.title}\nDownloading: 50.00%\rDownloading: 100.00%\n${lines(`Downloaded: ${offer.title}`)}`,
  };
};

/** The exit code with which the model tells the tool to go on for ever. */
const neverEnds = 99;

/** The tool compares the password itself, and passes only the result. */
const install: ToolChange = ({ mac, isRoot, words: [label, user = '', verdict] }) => {
  const offer = offerNamed(mac, label);
  if (offer === undefined) return noSuchUpdate(label);
  if (!isRoot) return { stderr: lines('softwareupdate: Must be run as root'), exitCode: 1 };
  const isOwner = mac.directory.users[user]?.['Password'] === '********';
  if (verdict !== 'accepted' || !isOwner) return { stderr: lines('Failed to authenticate'), exitCode: 1 };
  if (mac.ailments.update === 'stuck') return { stdout: lines(`Installing ${offer.title}`), exitCode: neverEnds };
  const version = withMinor(offer.version);
  return {
    after: { installed: { version, build: buildOf(version) } },
    stdout: lines(`Installing ${offer.title}`, `Done with ${offer.title}`, 'Done.'),
    power: 'restart',
  };
};

/** Reads the password from standard input, as the tool does; the model gets only whether it is right. */
const installing = `IFS= read -r p || p=''
IFS= read -r w <"$r/.sim/password" || w=''
case $p in ("$w") v=accepted ;; (*) v=refused ;; esac
"$r/.sim/ask" "$PWD" "\${0#"$r"}" "$@" "$v"
x=$?
while [ "$x" -eq ${neverEnds} ]; do /bin/sleep 1; done
exit "$x"`;

/** `softwareupdate`. Every list is that of a scan that found all builds in the table. */
export const softwareUpdate: Tool = {
  path: '/usr/sbin/softwareupdate',
  rows: ({ mac }) => [listed(mac.macos.version, ['--list', '--no-scan']), listed(mac.macos.version, ['--list'])],
  writes: [
    { form: '--download LABEL', source: manualPage, refusalSource: texts, change: download },
    {
      form: '--install LABEL --restart --user NAME --stdinpass VERDICT',
      // The tool itself adds the last word, so no typed command line matches.
      match: "'the tool itself'",
      source: from.published('"Failed to authenticate" of softwareupdate --stdinpass, in tuist/tuist bootstrap tests'),
      change: install,
    },
  ],
  patterns: [
    {
      match: "'6:--install '*' --restart --user '*' --stdinpass'",
      body: installing,
      source: texts,
    },
  ],
  usage: unconfirmedUsage('softwareupdate', 1, 'usage: softwareupdate <cmd> [<args> ...]'),
};

const manual = from.apple('sw_vers(1)');
const whole = from.capture('sw_vers.macos27.txt', 'public Go test data, macOS 27.0');

/** `sw_vers`: name, version and build of macOS, separately or together. */
export const swVers: Tool = {
  path: '/usr/bin/sw_vers',
  rows: ({ mac: { macos } }) => {
    const single = (name: string, value: string): readonly Row[] =>
      ['-', '--'].map((dashes) => row([`${dashes}${name}`], manual, lines(value)));
    const all = ['ProductName:\t\tmacOS', `ProductVersion:\t\t${macos.version}`, `BuildVersion:\t\t${macos.build}`];
    return [
      row([], whole, lines(...all)),
      ...single('productName', 'macOS'),
      ...single('productVersion', macos.version),
      ...single('buildVersion', macos.build),
    ];
  },
  usage: usage(
    1,
    from.unconfirmed('for an unknown option, sw_vers prints its usage on stderr and exits with 1'),
    'Usage: sw_vers [--help|--productName|--productVersion|--productVersionExtra|--buildVersion]',
  ),
};
