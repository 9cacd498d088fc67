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
import { at, comparesTraces, empty, gone, launchd, tableOf } from './node-states.ts';
import { exampleRecord } from './script-examples.ts';
import {
  busy,
  calls,
  common,
  counted,
  inPlacement,
  lacking,
  lines,
  loaded,
  login,
  marked,
  needsReboot,
  noted,
  rank,
  rankPlist,
  recorded,
  start,
  there,
  usual,
  wired,
} from './service-tools.ts';

const files = rankFilesFolder('kimi').path;
const bootstrap = (more: Partial<ScriptArgs['bootstrap-rank']> = {}): ScriptCall => ({
  name: 'bootstrap-rank',
  args: { record: exampleRecord, request: '{}', user: '', files: [], links: [], folders: [], ...more },
});
const bootstrapped = [`chown ${login} $R${rankLog('kimi').path}`, ...calls(rank, rankPlist, 'enable', 'bootstrap')];
const plain = bootstrap();
const prepared = bootstrap({ prepared: ['cache'] });
const lasting = bootstrap({ folders: [{ name: 'cache', keeps: true }] });
const owned = inPlacement('owner', `${login}\n`);
const incomplete = 'not-prepared: cache is not complete';
const inFiles = (...names: readonly string[]) => empty(...names.map((name) => `${files}/${name}`));
const noFiles = (...names: readonly string[]) => gone(...names.map((name) => `${files}/${name}`));
/** launchd loses the service that it loads, or refuses to load it. */
const forgets = (more = '') =>
  at('bin/launchctl', `case $1 in (print) printf 'Could not find service\\n'; exit 113 ;; ${more} esac`);

const [here, elsewhere] = [{ startedIn: bootSession }, { startedIn: 'x' }];
const noMemory = at('usr/bin/vm_stat', 'exit 1');
const boots = tableOf('bootstrap-rank', common);
boots('refuses a rank without its file', plain)
  .in()
  .ends(`no-service-file: there is no $R${rankPlist}`, lacking('record'));
boots('prepares a rank', plain)
  .in(there)
  .ends('changed', recorded(), at(requestFile('kimi').path, '{}'), lacking('bootstrap'), bootstrapped);
boots('changes nothing on a prepared rank', plain).in(there, recorded(), busy).ends('unchanged', []);
boots('keeps the number of starts', plain)
  .in(there, recorded({ generation: 2, startedIn: 'x', starts: 4 }))
  .ends('changed', recorded({ ...elsewhere, starts: 4 }));
boots('counts from 0 if the number of starts is none', plain)
  .in(there, recorded({ ...elsewhere, starts: '4x' }))
  .ends('changed', recorded());
boots('prepares a rank that launchd has forgotten', plain).in(there, recorded()).ends('changed', bootstrapped);
boots('prepares a loaded rank without a record', plain)
  .in(there, loaded)
  .ends('changed', [...calls(rank, '', 'bootout'), ...bootstrapped]);
boots('replaces an idle older generation', plain)
  .in(there, loaded, recorded({ generation: 2 }))
  .ends('changed', recorded(), [...calls(rank, '', 'bootout'), ...bootstrapped]);
boots('refuses while an older generation runs', plain)
  .in(there, recorded({ generation: 2 }), busy)
  .ends('still-running: an older generation is running as process 4711', []);
boots('refuses a Mac that needs a restart', plain)
  .in(there, marked('kernel'))
  .ends(needsReboot('kernel'), lacking('record'));
boots('ignores the mark of an earlier boot session', plain).in(there, marked('kernel', 'x')).ends('changed');
boots('removes the mark once the memory has fallen', plain)
  .in(there, marked('memory'), wired(usual))
  .ends('changed', gone(rebootMarkFile.path));
boots('keeps the mark while the memory is high', plain)
  .in(there, marked('memory'), wired(1))
  .ends(needsReboot('memory'), marked('memory'));
boots('keeps the mark without a baseline', plain).in(there, marked('memory')).ends(needsReboot('memory'));
boots('keeps the mark with the baseline of another boot session', plain)
  .in(there, marked('memory'), wired(usual, 'x'))
  .ends(needsReboot('memory'));
boots('keeps the mark if the memory is unknown', plain)
  .in(there, marked('memory'), wired(usual), noMemory)
  .ends(needsReboot('memory'));
boots('keeps the mark of the kernel although the memory has fallen', plain)
  .in(there, marked('kernel'), wired(usual))
  .ends(needsReboot('kernel'));
boots('refuses a folder whose job has not finished', prepared).in(there, inFiles('cache/a')).ends(incomplete);
boots('refuses a folder that is missing', prepared).in(there, inPlacement('prepared.cache')).ends(incomplete);
boots('keeps a prepared folder and removes others', prepared)
  .in(there, inPlacement('prepared.cache'), inPlacement('prepared.old'), inFiles('cache/a', 'old/a', 'cach/a'))
  .ends(
    'changed',
    inPlacement('prepared.cache'),
    lacking('prepared.old'),
    inFiles('cache/a'),
    noFiles('old/', 'cach/'),
  );
boots('removes the files of a rank that has none', plain)
  .in(there, inFiles('a'), inPlacement('prepared.old'))
  .ends('changed', noFiles(''), lacking('prepared.old'));
boots("keeps its account's lasting folder", lasting)
  .in(there, inFiles('cache/a'), owned)
  .ends('changed', inFiles('cache/a'), owned);
boots('keeps a lasting folder of an older version, which recorded no owner', lasting)
  .in(there, inFiles('cache/a'))
  .ends('changed', inFiles('cache/a'), owned);
boots("empties another account's lasting folder", lasting)
  .in(there, inFiles('cache/a'), inPlacement('owner', 'mesh\n'))
  .ends('changed', noFiles('cache/a'), inFiles('cache/'), owned);
boots('records no owner without a lasting folder', bootstrap({ folders: [{ name: 'home', keeps: false }] }))
  .in(there, inFiles('home/a'))
  .ends('changed', lacking('owner'), noFiles('home/a'), inFiles('home/'));
boots('fails if launchd does not load the rank', plain)
  .in(there, forgets())
  .ends('launchctl: launchctl reported success, but does not show the service');
boots("fails with launchd's message after three attempts", plain)
  .in(there, forgets("(bootstrap) printf 'no\\n'; exit 5 ;;"))
  .ends('launchctl: no', [...bootstrapped, ...calls(rank, rankPlist, 'bootstrap', 'bootstrap')]);

const kickWith = (more: Partial<ScriptArgs['kick-rank']> = {}): ScriptCall => ({
  name: 'kick-rank',
  args: { placement: 'kimi', generation: 3, transport: 'tcp', startMs: 30_000, ...more },
});
const idle = { ...recorded(), ...loaded, '../launchd.started': 'state = running\npid = 4711\n' };
const startIs = (more: object = {}) => ({ [startFile('kimi').path]: start({ ...more, pid: 4711 }) });
const failedBefore = startIs({ failedIn: 'x' });
const startWas = (boot: string, outcome: string, more: object = {}) => ({
  [startFile('kimi').path]: lines({ boot, outcome, ...more }),
});
const first = recorded({ ...here, starts: 1 });
const noBaseline = gone(wiredBaselineFile.path);
const kicked = calls(rank, '', 'kickstart');
const kick = kickWith();
const rdma = kickWith({ transport: 'rdma', takes: 2 });

const kicks = tableOf('kick-rank', common);
kicks('starts a rank', kick)
  .in(idle)
  .ends('changed', startIs(), first, noted(), gone(rdmaStartsFile.path), wired(usual), kicked);
kicks('refuses a rank without a record', kick)
  .in(loaded)
  .ends('no-record: the rank has no record: it was not prepared', []);
kicks('refuses another generation', kick)
  .in(idle, recorded({ generation: 4 }))
  .ends('other-generation: the record has generation 4', []);
kicks('refuses a rank that is not loaded', kick)
  .in(idle, gone(`../launchd/${rank}`))
  .ends('not-loaded: launchd does not have the service', []);
kicks('leaves a rank that runs', kick).in(idle, busy).ends('unchanged', recorded(), []);
kicks('counts a rank that runs and loads again', kickWith({ transport: 'rdma', takes: 2, isReload: true }))
  .in(idle, busy, counted(3))
  .ends('changed', counted(5), first, []);
kicks('starts no process for a rank that loads again', kickWith({ isReload: true }))
  .in(idle)
  .ends('not-loaded: the rank has no process', recorded(), []);
kicks('refuses a Mac that needs a restart', kick).in(idle, marked('kernel')).ends(needsReboot('kernel'), []);
kicks('counts the starts of a boot session', kick)
  .in(idle, recorded({ ...here, starts: 4 }))
  .ends('changed', recorded({ ...here, starts: 5 }));
kicks('counts from the beginning in another boot session', kick)
  .in(idle, recorded({ ...elsewhere, starts: 4 }))
  .ends('changed', first);
kicks('counts from the beginning if the number is none', kick)
  .in(idle, recorded({ ...here, starts: '4x' }))
  .ends('changed', first);
kicks('adds the devices of a start over RDMA', rdma)
  .in(idle, counted(3))
  .ends('changed', counted(5), startIs({ transport: 'rdma', takes: 2 }));
kicks('counts devices from 0 in another boot session', rdma).in(idle, counted(3, 'x')).ends('changed', counted(2));
kicks('counts devices from 0 if their number is none', rdma).in(idle, counted('3x')).ends('changed', counted(2));
kicks('counts devices from 0 without a file', rdma).in(idle).ends('changed', counted(2));
kicks('records the size of the log, the wired limit and the last transport', kickWith({ lastTalked: 'tcp' }))
  .in(idle, at(rankLog('kimi').path, 'before\n'), at('../wired', '4096\n'))
  .ends('changed', startIs({ log: 7, wired: 4096, lastTalked: 'tcp' }));
kicks('records the boot session of a start that failed earlier', kick)
  .in(idle, startWas('x', 'failed'))
  .ends('changed', failedBefore);
kicks('records the boot session of a program that exited earlier', kick)
  .in(idle, startWas('x', 'exited'))
  .ends('changed', failedBefore);
kicks('keeps that boot session after another failure', kick)
  .in(idle, startWas(bootSession, 'failed', { failedIn: 'x' }))
  .ends('changed', failedBefore);
kicks('records no boot session for the first failure', kick)
  .in(idle, startWas(bootSession, 'failed'))
  .ends('changed', startIs());
kicks('forgets failures once a start has served', kick)
  .in(idle, startWas('x', 'served', { failedIn: 'x' }))
  .ends('changed', startIs());
kicks('reports a rank that exits immediately', kick)
  .in(idle, gone('../launchd.started'))
  .ends(
    'ended-at-once: the rank exited right after its start',
    at(startFile('kimi').path, start({ pid: 0 })),
    first,
    lacking('process'),
  );
kicks('reports a service that disappears', kick)
  .in(idle, at('bin/launchctl', `[ "$1" != kickstart ] || { /bin/rm "$R/../launchd/${rank}"; exit 0; }\n${launchd}`))
  .ends('not-loaded: launchd no longer has the service', lacking('process'));
kicks('keeps the baseline of this boot session', kick).in(idle, wired(1)).ends('changed', wired(1));
kicks('replaces the baseline of another boot session', kick).in(idle, wired(1, 'x')).ends('changed', wired(usual));
kicks('replaces a baseline that is no number', kick)
  .in(idle, at(wiredBaselineFile.path, `boot=${bootSession}\nwired=1x\n`))
  .ends('changed', wired(usual));
kicks('measures no baseline after a rank has run', kick)
  .in(idle, at(`${ours}/placements/other/record`, `startedIn=${bootSession}\n`))
  .ends('changed', noBaseline);
kicks('records no baseline if the memory is unknown', kick).in(idle, noMemory).ends('changed', noBaseline);

comparesTraces('rank-start-states');
