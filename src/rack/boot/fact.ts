import type { FactsBootSession, FactsDiskSpace } from '../../model/documents.generated.ts';
import type { PanicReport } from '../../model/facts/daemons.ts';
import { andThen, type Known, known, unknown } from '../../model/known.ts';
import { diskText, utcText } from '../../model/text/units.ts';
import { isUuid, wholeNumber } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { type NodeRecord, readRecords } from '../../node/answers/records.ts';
import { place, tool } from '../../node/paths/node-paths.ts';
import { panicReportFiles } from '../../node/probes/panic-reports.ts';
import { probe } from '../../node/probes/probe.ts';
import { sysctl } from '../../node/probes/sysctl.ts';
import { defineFact } from '../fact.ts';

/** `df -k` of the data volume, because `/` is the sealed system volume, whose numbers do not matter. */
const dataVolume = probe('data-volume', [tool.df, '-k', place.dataVolume], 10_000, 8_192);

const nameForm = /^panic ([A-Za-z0-9._+?-]{1,255}\.panic)$/;

/** Seconds since the epoch, from the header's `2026-11-20 21:26:29.00 +0100`. */
function timeOf(head: string): number | undefined {
  const [, date, time, zone, minutes] =
    /"timestamp"\s*:\s*"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? ([+-]\d\d):?(\d\d)"/.exec(head) ?? [];
  const epochMs = Date.parse(`${date}T${time}${zone}:${minutes}`);
  return Number.isNaN(epochMs) ? undefined : epochMs / 1_000;
}

/** The panic string as far as macOS wrote it, including its line ends. */
const saidOf = (line: string): string =>
  (/"panicString"\s*:\s*"(.*)$/.exec(line)?.[1] ?? '')
    .replaceAll(/\\[nr]/g, '\n')
    .replaceAll(/\\t/g, ' ')
    .replaceAll(/\\(["\\/])/g, '$1');

/** The kernel extensions in the backtrace, such as `com.apple.driver.AppleThunderboltIP(4.0.3)[…]`. */
function extensionsOf(said: string): readonly string[] {
  const [, list = ''] = /Kernel Extensions in backtrace:\n((?: [^\n]*\n)*)/.exec(said) ?? [];
  const names = [...list.matchAll(/^ +([A-Za-z][A-Za-z0-9._-]{0,120})\(/gm)].flatMap(([, name]) => name ?? []);
  return [...new Set(names)];
}

function reportOf({ head, lines }: NodeRecord): PanicReport | undefined {
  const name = nameForm.exec(head)?.[1];
  if (name === undefined) return undefined;
  const said = saidOf(lines.slice(1).find((line) => line.includes('"panicString"')) ?? '');
  const at = timeOf(lines[0] ?? '');
  const reason = said.split('\n')[0]?.slice(0, 200).trim() ?? '';
  return {
    name,
    ...(at !== undefined && { atEpochSeconds: at }),
    ...(reason !== '' && { reason }),
    extensions: extensionsOf(said),
  };
}

export const byTime = (one: PanicReport, other: PanicReport): number =>
  (one.atEpochSeconds ?? 0) - (other.atEpochSeconds ?? 0);

/**
 * The latest kernel panic reports, oldest first, without the copies that macOS keeps in other places. macOS writes a
 * report after the restart; with FileVault, that may be hours later, when the password is entered:
 *
 *     {"bug_type":"210","timestamp":"2026-11-20 21:26:29.00 +0000","os_version":"macOS 26.2 (25C56)",…}
 *       "panicString" : "panic(cpu 4 caller 0xfffffe0029c35b10): Kernel data abort. at pc …\nDebugger message: …",
 */
export const panicReportsFact = defineFact({
  name: 'panic-reports',
  from: [panicReportFiles],
  parse: ([answer]): Known<readonly PanicReport[]> => {
    const records = readRecords(answer);
    if (records.kind === 'unknown' && records.reason === 'no-privilege')
      return unknown('no-privilege', 'The kernel panic reports cannot be read.');
    if (records.kind === 'unknown') return records;
    const found = records.value.map(reportOf);
    const byName = new Map(found.flatMap((one) => (one === undefined ? [] : [[one.name, one] as const])));
    return found.includes(undefined)
      ? garbled(answer, 'printed an invalid panic report name')
      : known([...byName.values()].toSorted(byTime));
  },
  text: (reports) => [reports.map(({ name, reason }) => (reason === undefined ? name : `${name}: ${reason}`))],
});

/** Device (blanks allowed), blocks, used, available, capacity, then on macOS three columns of inodes, mount point. */
const row = /^\S.{0,999}? {1,99}(\d+) +\d+ +(\d+) +\d+%(?: +\d+ +\d+ +\d+%)? +(\/.*)$/;

/**
 * Space on the data volume, from
 *
 *     Filesystem     1024-blocks       Used  Available Capacity iused       ifree %iused  Mounted on
 *     /dev/disk3s5    7811085600 4385517656    1000000    57% 1501896 33992116560    0%   /System/Volumes/Data
 */
export const diskSpaceFact = defineFact({
  name: 'disk-space',
  from: [dataVolume],
  parse: ([answer]): Known<FactsDiskSpace> =>
    andThen(readLines(answer), (lines) => {
      const [head = '', ...rest] = lines;
      if (!/^Filesystem +1024-blocks +Used +Available +Capacity .*Mounted on$/.test(head)) {
        return garbled(answer, 'did not begin with its header line');
      }
      const rows = rest.map((line) => row.exec(line));
      if (rows.includes(null)) return garbled(answer, 'printed a line that describes no volume');
      const data = rows.filter((one) => one?.[3] === place.dataVolume.path);
      const totalBlocks = wholeNumber(data[0]?.[1]);
      const freeBlocks = wholeNumber(data[0]?.[2]);
      if (data.length !== 1 || totalBlocks === undefined || freeBlocks === undefined || freeBlocks > totalBlocks) {
        return garbled(answer, 'did not describe the data volume');
      }
      return known({ totalBytes: totalBlocks * 1024, freeBytes: freeBlocks * 1024 });
    }),
  text: ({ freeBytes, totalBytes }) => `${diskText(freeBytes)} of ${diskText(totalBytes)} free`,
});

/**
 * The current boot session, from
 *
 *     kern.boottime: { sec = 1790421415, usec = 985376 } Sat Sep 26 06:16:55 2026
 *     kern.bootsessionuuid: 40962879-B7EE-4F13-AF6E-E7266EF5E732
 */
export const bootSessionFact = defineFact({
  name: 'boot-session',
  from: [sysctl],
  parse: ([answer]): Known<FactsBootSession> =>
    andThen(sysctlValues(answer, ['kern.bootsessionuuid', 'kern.boottime']), ([uuid = '', time = '']) => {
      const seconds = wholeNumber(/^\{ sec = (\d+), usec = \d+ \}(?: .*)?$/.exec(time)?.[1]);
      if (!isUuid(uuid)) return garbled(answer, 'printed no boot session UUID');
      if (seconds === undefined) return garbled(answer, 'printed no boot time');
      return known({ uuid, bootedAtEpochSeconds: seconds });
    }),
  source: 'sysctl kern.bootsessionuuid',
  text: ({ uuid, bootedAtEpochSeconds }) => [`since ${utcText(bootedAtEpochSeconds)}`, uuid],
});
