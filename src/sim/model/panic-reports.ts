import { seededUuid } from '../seed.ts';
import type { MacState, Panic } from './mac.ts';
import { dataFile, type NodeFile } from './node-files.ts';

const folder = '/Library/Logs/DiagnosticReports';

/** What the kernel says, and where macOS keeps the report under which name: all of them are seen on real Macs. */
interface Text {
  readonly reason: string;
  readonly extension: string;
  readonly file: (time: string) => string;
}

const texts: Readonly<Record<Panic['cause'], Text>> = {
  crash: {
    reason: 'Kernel data abort. at pc 0xfffffe0029f1a4c8, lr 0xfffffe0029f1a3a0',
    extension: 'com.apple.iokit.IOThunderboltFamily(9.3.3)',
    file: (time) => `Retired/panic-full-${time}.0002.panic`,
  },
  'tcp-load': {
    reason: 'Kernel data abort. at pc 0xfffffe002b6c1d04, lr 0xfffffe002b6c1b58',
    extension: 'com.apple.driver.AppleThunderboltIP(4.0.3)',
    file: (time) => `panic-base+socd-${time}.000.panic`,
  },
};

/** `2026-11-20 21:26:29`, in UTC. */
const timeText = (epochSeconds: number): string =>
  new Date(epochSeconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

function reportOf(mac: MacState, { cause, atEpochSeconds }: Panic, at: number): NodeFile {
  const time = timeText(atEpochSeconds);
  const incident = seededUuid([mac.hardwareUuid, 'panic', at]);
  const { version, build } = mac.macos;
  const { reason, extension, file } = texts[cause];
  const head = {
    bug_type: '210',
    timestamp: `${time}.00 +0000`,
    os_version: `macOS ${version} (${build})`,
    roots_installed: 0,
    incident_id: incident,
  };
  const said = [
    `panic(cpu 4 caller 0xfffffe0029c35b10): ${reason}`,
    'Debugger message: panic',
    `OS version: ${build}`,
    'Kernel Extensions in backtrace:',
    `   ${extension}[${incident}]@0xfffffe002b6b4000->0xfffffe002b6cffff`,
    '',
  ].join('\n');
  const lines = [
    JSON.stringify(head),
    '{',
    `  "build" : "macOS ${version} (${build})",`,
    `  "product" : "${mac.model.id}",`,
    `  "incident" : "${incident}",`,
    `  "date" : "${time}.00 +0000",`,
    `  "panicString" : ${JSON.stringify(said)}`,
    '}',
  ];
  const name = file(time.replace(' ', '-').replaceAll(':', ''));
  return dataFile(`${folder}/${name}`, lines.map((line) => `${line}\n`).join(''));
}

/** The reports of kernel panics that macOS has written, as files. */
export const panicReportFiles = (mac: MacState): readonly NodeFile[] =>
  (mac.panics ?? []).map((panic, at) => reportOf(mac, panic, at));
