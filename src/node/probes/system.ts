import type { Probe } from '../../model/probe.ts';
import { place, tool } from '../paths/node-paths.ts';
import { nodeSettingsScript } from './node-settings.ts';
import { panicReportsScript } from './panic-reports.ts';
import { spotlightScript } from './spotlight.ts';

/** `sw_vers`: version and build. */
export const swVers: Probe = { name: 'sw-vers', ask: [tool.swVers], deadlineMs: 5_000, maxBytes: 4_096 };

/**
 * `softwareupdate --list --no-scan` lists the updates that an earlier scan found, so the Mac contacts no server.
 * @see softwareupdate(8)
 */
export const softwareUpdateList: Probe = {
  name: 'software-updates',
  ask: [tool.softwareupdate, '--list', '--no-scan'],
  // It only makes a hint more precise: nothing waits long for it.
  deadlineMs: 3_000,
  maxBytes: 32_768,
};

/**
 * One `sysctl` for all its values. A name that this macOS does not know costs only itself: the tool names it on
 * stderr, prints the others and ends with 1.
 */
export const sysctl: Probe = {
  name: 'sysctl',
  ask: [
    tool.sysctl,
    'hw.model',
    'hw.memsize',
    'machdep.cpu.brand_string',
    'iogpu.wired_limit_mb',
    'kern.boottime',
    'kern.bootsessionuuid',
  ],
  deadlineMs: 5_000,
  maxBytes: 8_192,
};

/**
 * `system_profiler SPHardwareDataType -json`: serial number and hardware UUID, without root. It also looks up the activation
 * lock, which may wait for the network; then `platformDevice` answers.
 */
export const hardwareProfile: Probe = {
  name: 'hardware-profile',
  ask: [tool.systemProfiler, 'SPHardwareDataType', '-json'],
  deadlineMs: 10_000,
  maxBytes: 65_536,
};

/** `ioreg` of the Mac itself: the same two ids from the kernel, at once. @see ioreg(8) */
export const platformDevice: Probe = {
  name: 'platform-device',
  ask: [tool.ioreg, '-rd1', '-c', 'IOPlatformExpertDevice'],
  deadlineMs: 5_000,
  maxBytes: 65_536,
};

/** `df -k` of the data volume: `/` is the sealed system volume, whose numbers say nothing. */
export const dataVolume: Probe = {
  name: 'data-volume',
  ask: [tool.df, '-k', place.dataVolume],
  deadlineMs: 10_000,
  maxBytes: 8_192,
};

/** `fdesetup status`, which needs no root. */
export const fdesetup: Probe = {
  name: 'fdesetup',
  ask: [tool.fdesetup, 'status'],
  deadlineMs: 10_000,
  maxBytes: 8_192,
};

/** `date -u +%s`: the node's clock, in whole seconds, since `%N` is unknown to macOS. */
export const date: Probe = { name: 'date', ask: [tool.date, '-u', '+%s'], deadlineMs: 5_000, maxBytes: 1_024 };

/** `sudo -n /bin/sh -s` with nothing on its standard input: exactly the form in which every change will run. */
export const sudo: Probe = {
  name: 'sudo',
  ask: [tool.sudo, '-n', tool.sh, '-s'],
  deadlineMs: 10_000,
  maxBytes: 8_192,
};

/** `pmset -g custom`: power settings by source of power. */
export const pmsetCustom: Probe = {
  name: 'pmset-custom',
  ask: [tool.pmset, '-g', 'custom'],
  deadlineMs: 5_000,
  maxBytes: 16_384,
};

/** `pmset -g cap`: which settings this Mac has at all. */
export const pmsetCap: Probe = {
  name: 'pmset-cap',
  ask: [tool.pmset, '-g', 'cap'],
  deadlineMs: 5_000,
  maxBytes: 16_384,
};

/** Updates, automatic login, names, Screen Sharing, firewall, photos and backups: one record each. */
export const nodeSettings: Probe = {
  name: 'node-settings',
  ask: [tool.sh, '-c', nodeSettingsScript],
  deadlineMs: 10_000,
  maxBytes: 65_536,
};

/** `mdutil -a -s`: which volumes Spotlight indexes. */
export const spotlightIndexes: Probe = {
  name: 'spotlight',
  ask: [tool.sh, '-c', spotlightScript],
  deadlineMs: 10_000,
  maxBytes: 65_536,
};

/** The last reports of kernel panics, one record each. */
export const panicReportFiles: Probe = {
  name: 'panic-reports',
  ask: [tool.sh, '-c', panicReportsScript],
  deadlineMs: 10_000,
  maxBytes: 131_072,
};
