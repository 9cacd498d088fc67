import type { MacState } from '../../model/fleet.ts';
import { darwinRelease, xnuBuild } from '../../model/macos-builds.ts';
import { apple, lines, type Row, type TableTool, unconfirmed } from '../tool.ts';

const version = ({ macos }: MacState): string =>
  `Darwin Kernel Version ${darwinRelease(macos.version)}: Thu Apr 16 20:11:58 PDT 2026; root:${xnuBuild(macos.version)}/RELEASE_ARM64`;

/** `uname`: Darwin, its release, and the name of the Mac. */
export const uname: TableTool = {
  kind: 'table',
  path: '/usr/bin/uname',
  rows: ({ mac }) => {
    const host = `${mac.name}.local`;
    const release = darwinRelease(mac.macos.version);
    const row = (args: readonly string[], text: string): Row => ({
      args,
      source: apple('uname(1)'),
      stdout: lines(text),
    });
    return [
      row([], 'Darwin'),
      row(['-s'], 'Darwin'),
      row(['-r'], release),
      row(['-m'], 'arm64'),
      row(['-n'], host),
      {
        args: ['-v'],
        source: unconfirmed('uname -v: date and train of the kernel, and the chip at its end'),
        stdout: lines(version(mac)),
      },
      row(['-a'], `Darwin ${host} ${release} ${version(mac)} arm64`),
    ];
  },
  usage: {
    text: lines('usage: uname [-amnoprsv]'),
    exitCode: 1,
    source: unconfirmed("uname's usage text and exit code 1"),
  },
};
