import { digest } from '../../../../src/model/digest.ts';
import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { startFile } from '../../../../src/node/paths/own-paths.ts';
import { sh } from '../../../../src/node/shell/scripts.generated.ts';
import { wiredFunction, wiredValues } from '../../../../src/node/wired-memory.ts';
import { bootSession, ours } from './mac-root.ts';
import { at, comparesTraces, gone, tableOf } from './node-states.ts';
import {
  busy,
  calls,
  common,
  counted,
  inPlacement,
  lacking,
  lines,
  loaded,
  noted,
  rank,
  rankPlist,
  service,
  start,
  there,
  usual,
  wired,
} from './service-tools.ts';

const stop = (more: Partial<ScriptArgs['stop-rank']> = {}): ScriptCall => ({
  name: 'stop-rank',
  args: { placement: 'kimi', graceMs: 250, ...more },
});
const served = stop({ outcome: 'served' });
const failed = stop({ outcome: 'failed' });
const startedWith = (more: object = {}) => ({
  ...wired(usual),
  [startFile('kimi').path]: start({ takes: 2, ...more }),
});
const startedHere = startedWith();
const ended = (outcome: string, more: object = {}) => ({
  [startFile('kimi').path]: start({ takes: 2, ...more, outcome }),
});
const clean = 'ended=clean changed';
const removeRank: ScriptCall = { name: 'remove-rank', args: { placement: 'kimi' } };
const left = (pid: number | string = 999_999_999, boot = bootSession, start = 'Mon Jan  1') =>
  noted({ boot, pid, start });
const unseen = 'unknown (not measured before the first start of this boot session)';
/** A process that ends on a signal to the service. */
const obeys = {
  // It is called only while a process is left.
  'bin/sleep': ':',
  'bin/ps': `case $* in (*lstart*) printf 'Mon Jan  1\\n' ;; (*-ax*) [ -e "$R/../looked" ] || printf '999999999 1 999999999 S\\n'; : >"$R/../looked" ;; esac`,
};

const stops = tableOf('stop-rank', common);
stops('changes nothing without a rank', stop()).ends('unchanged', []);
stops('unloads a rank that is not running', stop())
  .in(loaded, left())
  .ends(clean, lacking('process'), calls(rank, '', 'bootout'));
stops('detects memory left by a rank that ended before the stop', failed)
  .in(loaded, startedHere, at('../pages', '9999999'), { 'bin/sleep': ':' })
  .ends(`wired=163839983616 baseline=${usual} ended=reboot-mark changed`, ended('exited'));
stops('records that a start served', served).in(loaded, startedHere).ends(clean, ended('served'));
stops('returns the devices of a start that served', served).in(loaded, startedHere, counted(5)).ends(clean, counted(3));
stops('returns the last devices', served).in(loaded, startedHere, counted(2)).ends(clean, counted(0));
stops('returns no more devices than were taken', served).in(loaded, startedHere, counted(1)).ends(clean, counted(1));
stops('returns no devices from a different boot session', served)
  .in(loaded, startedHere, counted(5, 'x'))
  .ends(clean, counted(5, 'x'));
stops('returns no devices if their number is invalid', served)
  .in(loaded, startedHere, counted('5x'))
  .ends(clean, counted('5x'));
stops('returns no devices from a failed start', failed)
  .in(loaded, startedHere, counted(5))
  .ends(clean, counted(5), ended('exited'));
stops('returns no devices from a start without RDMA', served)
  .in(loaded, wired(usual), at(startFile('kimi').path, start()), counted(5))
  .ends(clean, counted(5));
stops('records an outcome only once', served).in(loaded, ended('hung')).ends(clean, ended('hung'));
stops('records no outcome from a different boot session', served)
  .in(loaded, startedWith({ boot: 'x' }))
  .ends(clean, startedWith({ boot: 'x' }));
stops('records no outcome without a start', served)
  .in(loaded)
  .ends(clean, gone(startFile('kimi').path));
stops('records no outcome unless it is given one', stop()).in(loaded, startedHere).ends(clean, startedHere);
stops('signals a rank that launchd runs', failed)
  .in(startedHere, wired(usual), service(rank, 'state = running', 'pid = 999999999'), obeys)
  .ends(clean, ended('failed'), calls(rank, '', 'kill SIGTERM', 'bootout'));
stops('finds a process that launchd has forgotten', stop())
  .in(left(), obeys)
  .ends(`memory=${unseen} ended=unknown changed`, lacking('process'), []);
stops('ignores a process from a different boot session', stop()).in(left(999_999_999, 'x'), obeys).ends('unchanged');
stops('ignores a process with a different start time', stop())
  .in(left(999_999_999, bootSession, 'Tue Jan  2'), obeys)
  .ends('unchanged');
stops('ignores an invalid process number', stop()).in(left('9x'), obeys).ends('unchanged');
stops('removes nothing from a running rank', removeRank)
  .in(there, busy)
  .ends('still-running: it is running as process 4711', there, []);
stops('removes a rank that is not running', removeRank)
  .in(there, loaded, inPlacement('record'))
  .ends('changed', gone(rankPlist), lacking(''), calls(rank, '', 'bootout'));
stops('removes the service of a rank without files', removeRank)
  .in(loaded)
  .ends('changed', calls(rank, '', 'bootout'));
stops('removes the files of a rank without a service', removeRank).in(there).ends('changed', gone(rankPlist), []);
stops('leaves nothing to remove a second time', removeRank).ends('unchanged', []);

const kept = { key: digest('a'.repeat(64)), sha256: digest('b'.repeat(64)), firstTokenMs: 180, tokensPerSecond: 24.5 };
const keepGolden: ScriptCall = { name: 'keep-golden', args: { placement: 'kimi', golden: kept } };
const golden = inPlacement('golden', lines(kept));
const goldens = tableOf('keep-golden', { ...common, ...inPlacement('record') });
goldens('stores the answer', keepGolden).in().ends('changed', golden);
goldens('changes nothing if the answer is the same', keepGolden).in(golden).ends('unchanged', golden);
goldens('replaces a different answer', keepGolden).in(inPlacement('golden', 'x\n')).ends('changed', golden);
goldens('refuses a rank without a record', keepGolden)
  .in(lacking('record'))
  .ends('no-record: the rank has no record: it was not prepared', lacking('golden'));

const memory = `${wiredFunction}${sh.wiredMemory(wiredValues)}
d="$b/placements/kimi" u=${bootSession}
judge_wired
printf '%s\\n' "$m"
changed`;
const gibibyte = 2 ** 30;
const other = (more: object) => ({
  [`${ours}/placements/other/process`]: lines({ boot: bootSession, pid: 1, start: 'Mon Jan  1', ...more }),
});

const pages = (bytes: number) => at('../pages', String(Math.ceil(bytes / 16_384)));
const memoryIs = tableOf('wired memory after a stop', common);
memoryIs('is normal at the baseline', memory).in(wired(usual)).ends('normal changed');
memoryIs('is normal up to a tenth above the baseline', memory)
  .in(wired(20 * gibibyte), pages(22 * gibibyte))
  .ends('normal changed');
memoryIs('is high above that', memory)
  .in(wired(20 * gibibyte), pages(22 * gibibyte + 1))
  .ends('high changed');
memoryIs('is normal up to 1 GiB above a small baseline', memory)
  .in(wired(gibibyte), pages(2 * gibibyte))
  .ends('normal changed');
memoryIs('is unknown without a baseline', memory).ends(`${unseen} changed`);
memoryIs('is unknown if vm_stat fails', memory)
  .in(wired(usual), at('usr/bin/vm_stat', 'exit 1'))
  .ends('unknown (vm_stat does not say it) changed');
memoryIs('is unknown next to another placement', memory)
  .in(wired(usual), other({}))
  .ends('unknown (another placement runs here) changed');
memoryIs('is normal next to a placement from a different boot session', memory)
  .in(wired(usual), other({ boot: 'x' }))
  .ends('normal changed');
memoryIs('is normal next to a process with a different start time', memory)
  .in(wired(usual), other({ start: 'Tue Jan  2' }))
  .ends('normal changed');
memoryIs('is normal next to its own process', memory).in(wired(usual), noted()).ends('normal changed');

comparesTraces('rank-stop-states');
