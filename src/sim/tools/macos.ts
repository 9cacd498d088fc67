import type { MacState } from '../model/fleet.ts';
import { buildOf, darwinRelease, newerMacos, newestRelease } from '../model/macos-builds.ts';
import { seededInteger, seededText } from '../model/seed.ts';
import { from, lines, type Row, row, type Source, type Tool, unconfirmedUsage, usage } from './tool.ts';

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

function listed(installed: string): Row {
  const offers = offersFor(installed);
  const heading = 'Software Update found the following new or updated software:';
  return {
    args: ['--list', '--no-scan'],
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

/** `softwareupdate` after a scan that found all builds in the table. */
export const softwareUpdate: Tool = {
  path: '/usr/sbin/softwareupdate',
  rows: ({ mac }) => [listed(mac.macos.version)],
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
