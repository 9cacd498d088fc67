import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { startFile } from '../../../../src/node/paths/own-paths.ts';
import { sh } from '../../../../src/node/shell/scripts.generated.ts';
import { wiredFunction, wiredValues } from '../../../../src/node/wired-memory.ts';
import { bootSession, ours } from './mac-root.ts';
import { itInEachState } from './node-states.ts';
import {
  calls,
  common,
  counted,
  folder,
  lines,
  rank,
  rankPlist,
  reads,
  running,
  service,
  start,
  there,
  usual,
  waiting,
  wired,
} from './service-tools.ts';

const stop = (more: Partial<ScriptArgs['stop-rank']> = {}): ScriptCall => ({
  name: 'stop-rank',
  args: { placement: 'kimi', graceMs: 250, ...more },
});
const served = stop({ outcome: 'served' });
const failed = stop({ outcome: 'failed' });
const startedWith = (more: object = {}) => ({ [startFile('kimi').path]: start({ takes: 2, ...more }) });
const ended = (outcome: string, more: object = {}) => ({
  [startFile('kimi').path]: start({ takes: 2, ...more, outcome }),
});
const loaded = service(rank, ...waiting);
const clean = 'ended=clean changed';
const removeRank: ScriptCall = { name: 'remove-rank', args: { placement: 'kimi' } };
const noted = (more: object) => ({
  [`${folder}/process`]: lines({ boot: bootSession, pid: 999_999_999, start: 'Mon Jan  1', ...more }),
});
/** A process that ends on a signal to the service. */
const obeys = {
  // It is called only while a process is left.
  'bin/sleep': ':',
  'bin/ps': `case $* in (*lstart*) printf 'Mon Jan  1\\n' ;; (*-ax*) [ -e "$R/../looked" ] || printf '999999999 1 999999999 S\\n'; : >"$R/../looked" ;; esac`,
};

itInEachState(
  'stop-rank',
  [
    ['changes nothing without a rank', stop(), {}, { ends: 'unchanged', calls: [] }],
    [
      'unloads a rank that does not run',
      stop(),
      { files: { ...loaded, ...noted({}) } },
      { ends: clean, leaves: { [`${folder}/process`]: null }, calls: calls(rank, '', 'bootout') },
    ],
    [
      'records that a start served',
      served,
      { files: { ...loaded, ...startedWith() } },
      { ends: clean, leaves: ended('served') },
    ],
    [
      'returns the devices of a start that served',
      served,
      { files: { ...loaded, ...startedWith(), ...counted(bootSession, 5) } },
      { ends: clean, leaves: counted(bootSession, 3) },
    ],
    [
      'returns the last devices',
      served,
      { files: { ...loaded, ...startedWith(), ...counted(bootSession, 2) } },
      { ends: clean, leaves: counted(bootSession, 0) },
    ],
    [
      'returns no more devices than were taken',
      served,
      { files: { ...loaded, ...startedWith(), ...counted(bootSession, 1) } },
      { ends: clean, leaves: counted(bootSession, 1) },
    ],
    [
      'returns no devices of another boot session',
      served,
      { files: { ...loaded, ...startedWith(), ...counted('x', 5) } },
      { ends: clean, leaves: counted('x', 5) },
    ],
    [
      'returns no devices if their number is none',
      served,
      { files: { ...loaded, ...startedWith(), ...counted(bootSession, '5x') } },
      { ends: clean, leaves: counted(bootSession, '5x') },
    ],
    [
      'returns no devices of a start that failed',
      failed,
      { files: { ...loaded, ...startedWith(), ...counted(bootSession, 5) } },
      { ends: clean, leaves: { ...counted(bootSession, 5), ...ended('exited') } },
    ],
    [
      'returns no devices of a start without RDMA',
      served,
      { files: { ...loaded, [startFile('kimi').path]: start(), ...counted(bootSession, 5) } },
      { ends: clean, leaves: counted(bootSession, 5) },
    ],
    [
      'records an outcome only once',
      served,
      { files: { ...loaded, ...ended('hung') } },
      { ends: clean, leaves: ended('hung') },
    ],
    [
      'records no outcome of another boot session',
      served,
      { files: { ...loaded, ...startedWith({ boot: 'x' }) } },
      { ends: clean, leaves: startedWith({ boot: 'x' }) },
    ],
    [
      'records no outcome without a start',
      served,
      { files: loaded },
      { ends: clean, leaves: { [startFile('kimi').path]: null } },
    ],
    [
      'records no outcome unless it has one',
      stop(),
      { files: { ...loaded, ...startedWith() } },
      { ends: clean, leaves: startedWith() },
    ],
    [
      'signals a rank that launchd runs',
      failed,
      {
        files: { ...startedWith(), ...wired(usual), ...service(rank, 'state = running', 'pid = 999999999') },
        tools: obeys,
      },
      {
        ends: clean,
        leaves: ended('failed'),
        calls: calls(rank, '', 'kill SIGTERM', 'bootout'),
      },
    ],
    [
      'finds the process that launchd has forgotten',
      stop(),
      { files: noted({}), tools: obeys },
      {
        ends: 'memory=unknown (nobody saw it before the first start of this boot session) ended=unknown changed',
        leaves: { [`${folder}/process`]: null },
        calls: [],
      },
    ],
    [
      'ignores the process of another boot session',
      stop(),
      { files: noted({ boot: 'x' }), tools: obeys },
      { ends: 'unchanged' },
    ],
    [
      'ignores a process that began at another time',
      stop(),
      { files: noted({ start: 'Tue Jan  2' }), tools: obeys },
      { ends: 'unchanged' },
    ],
    [
      'ignores a process number that is none',
      stop(),
      { files: noted({ pid: '9x' }), tools: obeys },
      { ends: 'unchanged' },
    ],
    [
      'removes nothing of a rank that runs',
      removeRank,
      { files: { ...there, ...service(rank, ...running) } },
      { ends: 'still-running: it is running as process 4711', leaves: there, calls: [] },
    ],
    [
      'lets a rank be removed that does not run',
      removeRank,
      { files: { ...there, ...loaded, [`${folder}/record`]: '' } },
      { ends: 'changed', leaves: { [rankPlist]: null, [`${folder}/`]: null }, calls: calls(rank, '', 'bootout') },
    ],
    [
      'lets the service of a rank without files be removed',
      removeRank,
      { files: loaded },
      { ends: 'changed', calls: calls(rank, '', 'bootout') },
    ],
    [
      'lets the files of a rank without a service be removed',
      removeRank,
      { files: there },
      { ends: 'changed', leaves: { [rankPlist]: null }, calls: [] },
    ],
    ['leaves nothing to remove twice', removeRank, {}, { ends: 'unchanged', calls: [] }],
  ],
  common,
  reads,
);

const memory = `${wiredFunction}${sh.wiredMemory(wiredValues)}
d="$b/placements/kimi" u=${bootSession}
judge_wired
printf '%s\\n' "$m"
changed`;
const gibibyte = 2 ** 30;
const other = (more: object) => ({
  [`${ours}/placements/other/process`]: lines({ boot: bootSession, pid: 1, start: 'Mon Jan  1', ...more }),
});

itInEachState(
  'wired memory after a stop',
  [
    ['is normal at the baseline', memory, { files: wired(usual) }, { ends: 'normal changed' }],
    [
      'is normal up to a tenth above the baseline',
      memory,
      { files: { ...wired(20 * gibibyte), '../pages': String((22 * gibibyte) / 16_384) } },
      { ends: 'normal changed' },
    ],
    [
      'is high above that',
      memory,
      { files: { ...wired(20 * gibibyte), '../pages': String((22 * gibibyte) / 16_384 + 1) } },
      { ends: 'high changed' },
    ],
    [
      'is normal up to 1 GiB above a small baseline',
      memory,
      { files: { ...wired(gibibyte), '../pages': String((2 * gibibyte) / 16_384) } },
      { ends: 'normal changed' },
    ],
    [
      'is unknown without a baseline',
      memory,
      {},
      { ends: 'unknown (nobody saw it before the first start of this boot session) changed' },
    ],
    [
      'is unknown if vm_stat fails',
      memory,
      { files: wired(usual), tools: { 'usr/bin/vm_stat': 'exit 1' } },
      { ends: 'unknown (vm_stat does not say it) changed' },
    ],
    [
      'is unknown beside another placement',
      memory,
      { files: { ...wired(usual), ...other({}) } },
      { ends: 'unknown (another placement runs here) changed' },
    ],
    [
      'is normal beside a placement of another boot session',
      memory,
      { files: { ...wired(usual), ...other({ boot: 'x' }) } },
      { ends: 'normal changed' },
    ],
    [
      'is normal beside a process that began at another time',
      memory,
      { files: { ...wired(usual), ...other({ start: 'Tue Jan  2' }) } },
      { ends: 'normal changed' },
    ],
    [
      'is normal beside its own process',
      memory,
      { files: { ...wired(usual), [`${folder}/process`]: lines({ boot: bootSession, pid: 1, start: 'Mon Jan  1' }) } },
      { ends: 'normal changed' },
    ],
  ],
  common,
  reads,
);
