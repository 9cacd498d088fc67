import { pathWord, place, tool } from '../paths/node-paths.ts';
import { nodeSettingsScript } from './node-settings.ts';
import { panicReportsScript } from './panic-reports.ts';
import { probe } from './probe.ts';

/** `sw_vers`: version and build. */
export const swVers = probe('sw-vers', [tool.swVers], 5_000, 4_096);

/**
 * `softwareupdate --list --no-scan` lists the updates that an earlier scan found, so the Mac contacts no server.
 * It only makes a hint more precise: nothing waits long for it.
 * @see softwareupdate(8)
 */
export const softwareUpdateList = probe(
  'software-updates',
  [tool.softwareupdate, '--list', '--no-scan'],
  3_000,
  32_768,
);

/**
 * One `sysctl` for all its values. A name that this macOS does not know costs only itself: the tool names it on
 * stderr, prints the others and ends with 1.
 */
export const sysctl = probe(
  'sysctl',
  [
    tool.sysctl,
    'hw.model',
    'hw.memsize',
    'machdep.cpu.brand_string',
    'iogpu.wired_limit_mb',
    'kern.boottime',
    'kern.bootsessionuuid',
  ],
  5_000,
  8_192,
);

/**
 * `system_profiler SPHardwareDataType -json`: serial number and hardware UUID, without root. It also looks up the activation
 * lock, which may wait for the network; then `platformDevice` answers.
 */
export const hardwareProfile = probe(
  'hardware-profile',
  [tool.systemProfiler, 'SPHardwareDataType', '-json'],
  10_000,
  65_536,
);

/** `ioreg` of the Mac itself: the same two ids from the kernel, at once. @see ioreg(8) */
export const platformDevice = probe(
  'platform-device',
  [tool.ioreg, '-rd1', '-c', 'IOPlatformExpertDevice'],
  5_000,
  65_536,
);

/** `df -k` of the data volume: `/` is the sealed system volume, whose numbers say nothing. */
export const dataVolume = probe('data-volume', [tool.df, '-k', place.dataVolume], 10_000, 8_192);

/** `fdesetup status`, which needs no root. */
export const fdesetup = probe('fdesetup', [tool.fdesetup, 'status'], 10_000, 8_192);

/** `date -u +%s`: the node's clock, in whole seconds, since `%N` is unknown to macOS. */
export const date = probe('date', [tool.date, '-u', '+%s'], 5_000, 1_024);

/** `sudo -n /bin/sh -s` with nothing on its standard input: exactly the form in which every change will run. */
export const sudo = probe('sudo', [tool.sudo, '-n', tool.sh, '-s'], 10_000, 8_192);

/** `pmset -g custom`: power settings by source of power. */
export const pmsetCustom = probe('pmset-custom', [tool.pmset, '-g', 'custom'], 5_000, 16_384);

/** `pmset -g cap`: which settings this Mac has at all. */
export const pmsetCap = probe('pmset-cap', [tool.pmset, '-g', 'cap'], 5_000, 16_384);

/** Updates, automatic login, names, Screen Sharing, firewall, photos and backups: one record each. */
export const nodeSettings = probe('node-settings', [tool.sh, '-c', nodeSettingsScript], 10_000, 65_536);

const spotlightScript = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
${pathWord(tool.mdutil)} -a -s &
wait "$!" && printf "end\\n"`;

/**
 * `mdutil -a -s`: which volumes Spotlight indexes, and `end` below it: its list has no end of its own. It runs by itself,
 * since a volume that is not there any more (a network disk, a backup) holds it up.
 */
export const spotlightIndexes = probe('spotlight', [tool.sh, '-c', spotlightScript], 10_000, 65_536);

/** The last reports of kernel panics, one record each. */
export const panicReportFiles = probe('panic-reports', [tool.sh, '-c', panicReportsScript], 10_000, 131_072);
