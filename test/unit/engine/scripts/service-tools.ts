/** A Mac's services, and the files of one rank. */
import {
  gatewayStatusStart,
  placementFolder,
  rdmaStartsFile,
  rebootMarkFile,
  serviceFile,
  wiredBaselineFile,
} from '../../../../src/node/paths/own-paths.ts';
import { bootSession } from './mac-root.ts';
import { gone, launchd, type NodeState } from './node-states.ts';
import { vmStat } from './rank-root.ts';
import { exampleRecord } from './script-examples.ts';

/** The user who called sudo. */
export const login = process.env['SUDO_USER'] ?? 'root';
/** A Mac with launchd, whose clock and processes stand still. */
export const common: NodeState = {
  'Library/LaunchDaemons/': '',
  // `kickstart` gives the service the fields in `../launchd.started`, if that file is there.
  'bin/launchctl': `[ "$1" != kickstart ] || { /bin/cat "$R/../launchd.started" >"$R/../launchd/\${2##*/}" 2>/dev/null || printf 'state = exited\\n' >"$R/../launchd/\${2##*/}"; exit 0; }
${launchd}`,
  'bin/date': "printf '1000\\n'",
  'bin/ps': "case $* in (*lstart*) printf 'Mon Jan  1\\n' ;; esac",
  'usr/bin/vm_stat': vmStat,
  'usr/bin/curl': `printf '%s' '${gatewayStatusStart}'`,
};
/** Calls of launchctl. */
export const calls = (label: string, plist: string, ...verbs: readonly string[]): readonly string[] =>
  verbs.map((verb) =>
    verb === 'bootstrap' ? `launchctl bootstrap system $R${plist}` : `launchctl ${verb} system/${label}`,
  );
/** A loaded service with these fields. */
export const service = (label: string, ...fields: readonly string[]) => ({
  [`../launchd/${label}`]: fields.map((one) => `${one}\n`).join(''),
});
/** The fields of a service without a process, and with one. */
export const waiting = 'state = waiting';
export const running = ['state = running', 'pid = 4711'] as const;

/** The rank's service. */
export const rank = 'dev.meshwright.rank.kimi';
/** The rank's service, without a process and with one. */
export const loaded = service(rank, waiting);
export const busy = service(rank, ...running);
/** The rank's property list. */
export const rankPlist = serviceFile('kimi').path;
/** The placement's folder. */
const folder = placementFolder('kimi').path;
/** Lines `KEY=VALUE`. */
export const lines = (values: object): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
/** The rank's record. */
const record = (more: object = {}): string => lines({ ...exampleRecord, startedIn: '', starts: 0, ...more });
/** A file of the placement; a folder if its name ends with a slash. */
export const inPlacement = (name: string, text = '') => ({ [`${folder}/${name}`]: text });
/** Files that a placement lacks. */
export const lacking = (...names: readonly string[]) => gone(...names.map((name) => `${folder}/${name}`));
/** The rank's record as a file. */
export const recorded = (more: object = {}) => inPlacement('record', record(more));
/** The process that meshwright has noted. */
export const noted = (more: object = {}) =>
  inPlacement('process', lines({ boot: bootSession, pid: 4711, start: 'Mon Jan  1', ...more }));
/** The files of a rank that is not loaded. */
export const there = { [rankPlist]: '' };
/** The mark of a Mac that needs a restart. */
export const marked = (why: string, boot = bootSession) => ({
  [rebootMarkFile.path]: lines({ boot, why, placement: 'kimi' }),
});
/** How a script refuses such a Mac. */
export const needsReboot = (why: string): string =>
  `reboot-mark: this Mac needs a restart: a stopped rank left something that only a restart removes (${why})`;
/** The wired memory before the first start. */
export const wired = (bytes: number, boot = bootSession) => ({
  [wiredBaselineFile.path]: lines({ boot, wired: bytes }),
});
/** The wired memory that `vm_stat` shows, in bytes. */
export const usual = 17_179_869_184;
/** The mark of a start. */
export const start = (more: object = {}): string =>
  lines({ boot: bootSession, transport: 'tcp', until: 1030, log: 0, wired: 0, ...more });
/** The number of devices that starts have taken in a boot session. */
export const counted = (starts: number | string, boot = bootSession) => ({
  [rdmaStartsFile.path]: lines({ boot, starts }),
});
