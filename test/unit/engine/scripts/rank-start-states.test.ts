import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import {
  rankFilesFolder,
  rankLog,
  rdmaStartsFile,
  rebootMarkFile,
  requestFile,
  startFile,
  wiredBaselineFile,
} from '../../../../src/node/paths/own-paths.ts';
import { bootSession, ours } from './mac-root.ts';
import { itInEachState, launchd } from './node-states.ts';
import { exampleRecord } from './script-examples.ts';
import {
  calls,
  common,
  counted,
  folder,
  lines,
  login,
  marked,
  needsReboot,
  rank,
  rankPlist,
  reads,
  record,
  running,
  service,
  start,
  there,
  usual,
  waiting,
  wired,
} from './service-tools.ts';

const files = rankFilesFolder('kimi').path;
const bootstrap = (more: Partial<ScriptArgs['bootstrap-rank']> = {}): ScriptCall => ({
  name: 'bootstrap-rank',
  args: { record: exampleRecord, request: '{}', user: '', files: [], links: [], folders: [], ...more },
});
const bootstrapped = [`chown ${login} $R${rankLog('kimi').path}`, ...calls(rank, rankPlist, 'enable', 'bootstrap')];
const prepared = bootstrap({ prepared: ['cache'] });

itInEachState(
  'bootstrap-rank',
  [
    [
      'refuses a rank without its file',
      bootstrap(),
      {},
      { ends: `no-service-file: there is no $R${rankPlist}`, leaves: { [`${folder}/record`]: null } },
    ],
    [
      'prepares a rank',
      bootstrap(),
      { files: there },
      {
        ends: 'changed',
        leaves: { [`${folder}/record`]: record(), [requestFile('kimi').path]: '{}', [`${folder}/bootstrap`]: null },
        calls: bootstrapped,
      },
    ],
    [
      'changes nothing on a prepared rank',
      bootstrap(),
      { files: { ...there, [`${folder}/record`]: record(), ...service(rank, ...running) } },
      { ends: 'unchanged', calls: [] },
    ],
    [
      'keeps the number of starts',
      bootstrap(),
      { files: { ...there, [`${folder}/record`]: record({ generation: 2, startedIn: 'x', starts: 4 }) } },
      { ends: 'changed', leaves: { [`${folder}/record`]: record({ startedIn: 'x', starts: 4 }) } },
    ],
    [
      'counts from 0 if the number of starts is none',
      bootstrap(),
      { files: { ...there, [`${folder}/record`]: record({ startedIn: 'x', starts: '4x' }) } },
      { ends: 'changed', leaves: { [`${folder}/record`]: record() } },
    ],
    [
      'prepares a rank that launchd has forgotten',
      bootstrap(),
      { files: { ...there, [`${folder}/record`]: record() } },
      { ends: 'changed', calls: bootstrapped },
    ],
    [
      'prepares a loaded rank without a record',
      bootstrap(),
      { files: { ...there, ...service(rank, ...waiting) } },
      { ends: 'changed', calls: [...calls(rank, '', 'bootout'), ...bootstrapped] },
    ],
    [
      'refuses while an older generation runs',
      bootstrap(),
      { files: { ...there, [`${folder}/record`]: record({ generation: 2 }), ...service(rank, ...running) } },
      { ends: 'still-running: an older generation is running as process 4711', calls: [] },
    ],
    [
      'refuses a Mac that needs a restart',
      bootstrap(),
      { files: { ...there, ...marked('kernel') } },
      { ends: needsReboot('kernel'), leaves: { [`${folder}/record`]: null } },
    ],
    [
      'ignores the mark of an earlier boot session',
      bootstrap(),
      { files: { ...there, ...marked('kernel', 'x') } },
      { ends: 'changed' },
    ],
    [
      'removes the mark once the memory has fallen',
      bootstrap(),
      { files: { ...there, ...marked('memory'), ...wired(usual) } },
      { ends: 'changed', leaves: { [rebootMarkFile.path]: null } },
    ],
    [
      'keeps the mark while the memory is high',
      bootstrap(),
      { files: { ...there, ...marked('memory'), ...wired(1) } },
      { ends: needsReboot('memory'), leaves: marked('memory') },
    ],
    [
      'keeps the mark without a baseline',
      bootstrap(),
      { files: { ...there, ...marked('memory') } },
      { ends: needsReboot('memory') },
    ],
    [
      'keeps the mark with the baseline of another boot session',
      bootstrap(),
      { files: { ...there, ...marked('memory'), ...wired(usual, 'x') } },
      { ends: needsReboot('memory') },
    ],
    [
      'keeps the mark if the memory is unknown',
      bootstrap(),
      { files: { ...there, ...marked('memory'), ...wired(usual) }, tools: { 'usr/bin/vm_stat': 'exit 1' } },
      { ends: needsReboot('memory') },
    ],
    [
      'keeps the mark of the kernel although the memory has fallen',
      bootstrap(),
      { files: { ...there, ...marked('kernel'), ...wired(usual) } },
      { ends: needsReboot('kernel') },
    ],
    [
      'refuses a folder whose job has not finished',
      prepared,
      { files: { ...there, [`${files}/cache/a`]: '' } },
      { ends: 'not-prepared: cache is not complete' },
    ],
    [
      'refuses a folder that is missing',
      prepared,
      { files: { ...there, [`${folder}/prepared.cache`]: '' } },
      { ends: 'not-prepared: cache is not complete' },
    ],
    [
      'keeps a prepared folder and removes others',
      prepared,
      {
        files: {
          ...there,
          [`${folder}/prepared.cache`]: '',
          [`${files}/cache/a`]: '',
          [`${folder}/prepared.old`]: '',
          [`${files}/old/a`]: '',
          [`${files}/cach/a`]: '',
        },
      },
      {
        ends: 'changed',
        leaves: {
          [`${files}/cache/a`]: '',
          [`${folder}/prepared.cache`]: '',
          [`${folder}/prepared.old`]: null,
          [`${files}/old/`]: null,
          [`${files}/cach/`]: null,
        },
      },
    ],
    [
      'removes the files of a rank that has none',
      bootstrap(),
      { files: { ...there, [`${files}/a`]: '', [`${folder}/prepared.old`]: '' } },
      { ends: 'changed', leaves: { [`${files}/`]: null, [`${folder}/prepared.old`]: null } },
    ],
    [
      "keeps its account's lasting folder",
      bootstrap({ folders: [{ name: 'cache', keeps: true }] }),
      { files: { ...there, [`${files}/cache/a`]: '', [`${folder}/owner`]: `${login}\n` } },
      { ends: 'changed', leaves: { [`${files}/cache/a`]: '', [`${folder}/owner`]: `${login}\n` } },
    ],
    [
      "empties another account's lasting folder",
      bootstrap({ folders: [{ name: 'cache', keeps: true }] }),
      { files: { ...there, [`${files}/cache/a`]: '', [`${folder}/owner`]: 'mesh\n' } },
      {
        ends: 'changed',
        leaves: { [`${files}/cache/a`]: null, [`${files}/cache/`]: '', [`${folder}/owner`]: `${login}\n` },
      },
    ],
    [
      'records no owner without a lasting folder',
      bootstrap({ folders: [{ name: 'home', keeps: false }] }),
      { files: { ...there, [`${files}/home/a`]: '' } },
      { ends: 'changed', leaves: { [`${folder}/owner`]: null, [`${files}/home/a`]: null, [`${files}/home/`]: '' } },
    ],
    [
      'fails if launchd does not load the rank',
      bootstrap(),
      {
        files: there,
        tools: { 'bin/launchctl': "case $1 in (print) printf 'Could not find service\\n'; exit 113 ;; esac" },
      },
      { ends: 'launchctl: launchctl reported success, but does not show the service' },
    ],
    [
      "fails with launchd's message after three attempts",
      bootstrap(),
      {
        files: there,
        tools: {
          'bin/launchctl':
            "case $1 in (print) printf 'Could not find service\\n'; exit 113 ;; (bootstrap) printf 'no\\n'; exit 5 ;; esac",
        },
      },
      { ends: 'launchctl: no', calls: [...bootstrapped, ...calls(rank, rankPlist, 'bootstrap', 'bootstrap')] },
    ],
  ],
  common,
  reads,
);

const kick = (more: Partial<ScriptArgs['kick-rank']> = {}): ScriptCall => ({
  name: 'kick-rank',
  args: { placement: 'kimi', generation: 3, transport: 'tcp', startMs: 30_000, ...more },
});
const idle = {
  [`${folder}/record`]: record(),
  ...service(rank, ...waiting),
  '../launchd.started': 'state = running\npid = 4711\n',
};
const startIs = (more: object = {}) => ({ [startFile('kimi').path]: start({ ...more, pid: 4711 }) });
const startWas = (boot: string, outcome: string, more: object = {}) => ({
  [startFile('kimi').path]: lines({ boot, outcome, ...more }),
});
const kicked = calls(rank, '', 'kickstart');
const rdma = kick({ transport: 'rdma', takes: 2 });

itInEachState(
  'kick-rank',
  [
    [
      'starts a rank',
      kick(),
      { files: idle },
      {
        ends: 'changed',
        leaves: {
          ...startIs(),
          [`${folder}/record`]: record({ startedIn: bootSession, starts: 1 }),
          [`${folder}/process`]: lines({ boot: bootSession, pid: 4711, start: 'Mon Jan  1' }),
          [rdmaStartsFile.path]: null,
          [wiredBaselineFile.path]: wired(usual)[wiredBaselineFile.path] ?? '',
        },
        calls: kicked,
      },
    ],
    [
      'refuses a rank without a record',
      kick(),
      { files: service(rank, ...waiting) },
      { ends: 'no-record: the rank has no record: it was not prepared', calls: [] },
    ],
    [
      'refuses another generation',
      kick(),
      { files: { ...idle, [`${folder}/record`]: record({ generation: 4 }) } },
      { ends: 'other-generation: the record has generation 4', calls: [] },
    ],
    [
      'refuses a rank that is not loaded',
      kick(),
      { files: { ...idle, [`../launchd/${rank}`]: null } },
      { ends: 'not-loaded: launchd does not have the service', calls: [] },
    ],
    [
      'leaves a rank that runs',
      kick(),
      { files: { ...idle, ...service(rank, ...running) } },
      { ends: 'unchanged', leaves: { [`${folder}/record`]: record() }, calls: [] },
    ],
    [
      'refuses a Mac that needs a restart',
      kick(),
      { files: { ...idle, ...marked('kernel') } },
      { ends: needsReboot('kernel'), calls: [] },
    ],
    [
      'counts the starts of a boot session',
      kick(),
      { files: { ...idle, [`${folder}/record`]: record({ startedIn: bootSession, starts: 4 }) } },
      { ends: 'changed', leaves: { [`${folder}/record`]: record({ startedIn: bootSession, starts: 5 }) } },
    ],
    [
      'counts from the beginning in another boot session',
      kick(),
      { files: { ...idle, [`${folder}/record`]: record({ startedIn: 'x', starts: 4 }) } },
      { ends: 'changed', leaves: { [`${folder}/record`]: record({ startedIn: bootSession, starts: 1 }) } },
    ],
    [
      'counts from the beginning if the number is none',
      kick(),
      { files: { ...idle, [`${folder}/record`]: record({ startedIn: bootSession, starts: '4x' }) } },
      { ends: 'changed', leaves: { [`${folder}/record`]: record({ startedIn: bootSession, starts: 1 }) } },
    ],
    [
      'adds the devices of a start over RDMA',
      rdma,
      { files: { ...idle, ...counted(bootSession, 3) } },
      { ends: 'changed', leaves: { ...counted(bootSession, 5), ...startIs({ transport: 'rdma', takes: 2 }) } },
    ],
    [
      'counts devices from 0 in another boot session',
      rdma,
      { files: { ...idle, ...counted('x', 3) } },
      { ends: 'changed', leaves: counted(bootSession, 2) },
    ],
    [
      'counts devices from 0 if their number is none',
      rdma,
      { files: { ...idle, ...counted(bootSession, '3x') } },
      { ends: 'changed', leaves: counted(bootSession, 2) },
    ],
    [
      'counts devices from 0 without a file',
      rdma,
      { files: idle },
      { ends: 'changed', leaves: counted(bootSession, 2) },
    ],
    [
      'records the size of the log, the wired limit and the last transport',
      kick({ lastTalked: 'tcp' }),
      { files: { ...idle, [rankLog('kimi').path]: 'before\n', '../wired': '4096\n' } },
      { ends: 'changed', leaves: startIs({ log: 7, wired: 4096, lastTalked: 'tcp' }) },
    ],
    [
      'records the boot session of a start that failed earlier',
      kick(),
      { files: { ...idle, ...startWas('x', 'failed') } },
      { ends: 'changed', leaves: startIs({ failedIn: 'x' }) },
    ],
    [
      'records the boot session of a program that exited earlier',
      kick(),
      { files: { ...idle, ...startWas('x', 'exited') } },
      { ends: 'changed', leaves: startIs({ failedIn: 'x' }) },
    ],
    [
      'keeps that boot session after another failure',
      kick(),
      { files: { ...idle, ...startWas(bootSession, 'failed', { failedIn: 'x' }) } },
      { ends: 'changed', leaves: startIs({ failedIn: 'x' }) },
    ],
    [
      'records no boot session for the first failure',
      kick(),
      { files: { ...idle, ...startWas(bootSession, 'failed') } },
      { ends: 'changed', leaves: startIs() },
    ],
    [
      'forgets failures once a start has served',
      kick(),
      { files: { ...idle, ...startWas('x', 'served', { failedIn: 'x' }) } },
      { ends: 'changed', leaves: startIs() },
    ],
    [
      'reports a rank that exits immediately',
      kick(),
      { files: { ...idle, '../launchd.started': null } },
      {
        ends: 'ended-at-once: the rank exited right after its start',
        leaves: { [startFile('kimi').path]: start({ pid: 0 }), [`${folder}/process`]: null },
      },
    ],
    [
      'reports a service that disappears',
      kick(),
      {
        files: idle,
        tools: { 'bin/launchctl': `[ "$1" != kickstart ] || { /bin/rm "$R/../launchd/${rank}"; exit 0; }\n${launchd}` },
      },
      { ends: 'not-loaded: launchd no longer has the service', leaves: { [`${folder}/process`]: null } },
    ],
    [
      'keeps the baseline of this boot session',
      kick(),
      { files: { ...idle, ...wired(1) } },
      { ends: 'changed', leaves: wired(1) },
    ],
    [
      'replaces the baseline of another boot session',
      kick(),
      { files: { ...idle, ...wired(1, 'x') } },
      { ends: 'changed', leaves: wired(usual) },
    ],
    [
      'replaces a baseline that is no number',
      kick(),
      { files: { ...idle, [wiredBaselineFile.path]: `boot=${bootSession}\nwired=1x\n` } },
      { ends: 'changed', leaves: wired(usual) },
    ],
    [
      'measures no baseline after a rank has run',
      kick(),
      { files: { ...idle, [`${ours}/placements/other/record`]: `startedIn=${bootSession}\n` } },
      { ends: 'changed', leaves: { [wiredBaselineFile.path]: null } },
    ],
    [
      'records no baseline if the memory is unknown',
      kick(),
      { files: idle, tools: { 'usr/bin/vm_stat': 'exit 1' } },
      { ends: 'changed', leaves: { [wiredBaselineFile.path]: null } },
    ],
  ],
  common,
  reads,
);
